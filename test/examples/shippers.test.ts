import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { SENDERS } from '../shippers/senders.ts';
import { SHIPPERS } from '../shippers/shippers.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'examples', 'shippers');
const examples = readdirSync(folder).sort();
const page = readFileSync(path.join(root, 'docs', 'shippers.md'), 'utf8');

/** The rows of a section's table by the example they link to: path and what is said of 429. */
function rows(title: string): Map<string, { readonly path: string; readonly again: string }> {
  const section = page.split(/^## /m).find((text) => text.startsWith(title)) ?? '';
  const lines = section.matchAll(/^\| .* \| \[([\w-]+)\]\([^)]*\) \| `([^`]+)` \| (.+) \|$/gm);
  return new Map([...lines].map(([, example = '', at = '', again = '']) => [example, { path: at, again }]));
}

describe('examples/shippers', () => {
  const run = rows('Run by our tests');
  const metrics = rows('Metrics');
  const notRun = rows('Not run by our tests');

  it('docs/shippers.md has each of them once', () =>
    expect([...run.keys(), ...metrics.keys(), ...notRun.keys()].sort()).to.deep.equal(examples));

  it('those that the page says are run are run, on the path and with the answer to 429 or 503 that it names', () => {
    for (const [said, clients] of [
      [run, SHIPPERS],
      [metrics, SENDERS],
    ] as const) {
      expect([...said.keys()].sort()).to.deep.equal([...new Set(clients.map(({ example }) => example))].sort());
      for (const { name, example, request, resends } of clients) {
        expect(said.get(example)?.path, name).to.equal(request.split(' ')[1]);
        expect(said.get(example)?.again.startsWith('yes'), name).to.equal(resends);
      }
    }
  });

  it('the others say so', () => {
    for (const example of examples) {
      const texts = readdirSync(path.join(folder, example)).map((name) => readFileSync(path.join(folder, example, name), 'utf8'));
      expect(texts.join('').includes('Not run by our tests.'), example).to.equal(notRun.has(example));
    }
  });

  it('none holds a key or a path of the machine it was written on', () => {
    for (const example of examples)
      for (const name of readdirSync(path.join(folder, example)))
        expect(readFileSync(path.join(folder, example, name), 'utf8')).to.not.match(/\blw_|\/(?:home|root|work|tmp)\//);
  });
});

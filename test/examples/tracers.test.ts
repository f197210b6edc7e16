import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { TRACERS } from '../shippers/tracers.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'examples', 'traces');
const section =
  readFileSync(path.join(root, 'docs', 'traces.md'), 'utf8')
    .split(/^## /m)
    .find((text) => text.startsWith('Clients')) ?? '';
const rows = new Map(
  [...section.matchAll(/^\| .* \| \[([\w-]+)\]\([^)]*\) \| `([^`]+)` \| (.+) \|$/gm)].map(([, example = '', at = '', again = '']) => [
    example,
    { at, again },
  ]),
);

describe('examples/traces', () => {
  it('docs/traces.md has each of them, and tests run each', () => {
    expect([...rows.keys()].sort()).to.deep.equal(readdirSync(folder).sort());
    expect([...new Set(TRACERS.map(({ example }) => example))].sort()).to.deep.equal(readdirSync(folder).sort());
  });

  it('they use the path and do after 429 what the page says', () => {
    for (const { name, example, request, resends } of TRACERS) {
      expect(rows.get(example)?.at, name).to.equal(request.split(' ')[1]);
      expect(rows.get(example)?.again.startsWith('yes'), name).to.equal(resends);
    }
  });

  it('none holds a key or a path of the machine it was written on', () => {
    for (const example of readdirSync(folder))
      for (const name of readdirSync(path.join(folder, example)))
        expect(readFileSync(path.join(folder, example, name), 'utf8')).to.not.match(/\blw_|\/(?:home|root|work|tmp)\//);
  });
});

import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

describe('the examples of processors', () => {
  it('are as docs/extending/processors.md shows them', () => {
    expect(read('docs/extending/processors.md')).to.contain(`\`\`\`ts\n${read('examples/processors/service-entries.ts').trim()}\n\`\`\``);
  });

  it('are short', () => {
    for (const [file, most] of [
      ['service-entries.ts', 45],
      ['distinct-users.ts', 100],
    ] as const)
      expect(read(`examples/processors/${file}`).split('\n').length, file).to.be.at.most(most);
  });
});

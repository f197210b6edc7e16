import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { defaultExport } from '../../../pipeline/core/default-export.ts';

/** What docs/extending/typescript.md says must not be used, and what Node says of it. */
const REFUSED: Readonly<Record<string, readonly [source: string, reason: string]>> = {
  'an enum': ['enum A { B } export default A;', 'TypeScript enum is not supported in strip-only mode'],
  'a namespace': ['namespace N { export const a = 1; } export default N;', 'TypeScript namespace declaration is not supported'],
  'a parameter property': ['export default class { constructor(private a: number) {} }', 'TypeScript parameter property is not supported'],
  'import =': ["import fs = require('node:fs'); export default fs;", 'TypeScript import equals declaration is not supported'],
  'export =': ['export = 1;', 'TypeScript export assignment is not supported'],
  'a decorator': ['const d = (x: unknown) => x; @d class D {} export default D;', 'Invalid or unexpected token'],
  'a type imported as a value': ["import { T } from './types.ts'; export default 1 as T;", "does not provide an export named 'T'"],
  'a type before a value': ['const a = <number>1; export default a;', 'The angle-bracket syntax for type assertions'],
};

describe('the default export of an extension', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-export-'));
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(path.join(folder, 'types.ts'), 'export type T = number;');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function fileWith(name: string, source: string): string {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, source);
    return file;
  }
  const failureOf = (file: string, from: string | null = null): Promise<string> =>
    defaultExport(file, 'detector', from).then(() => 'loaded', (error: unknown) => (error as Error).message); // prettier-ignore

  it('is of JavaScript and of TypeScript whose types can be removed', async () => {
    const source = "import type { T } from './types.ts'; const a = 7 as T; export default { a } satisfies { a: number };";
    expect(await defaultExport(fileWith('good.ts', source), 'detector')).to.deep.equal({ a: 7 });
    expect(await defaultExport(fileWith('good.mjs', 'export default 8;'), 'detector')).to.equal(8);
    expect(await defaultExport(fileWith('none.mjs', 'export const a = 8;'), 'detector')).to.equal(undefined);
  });

  for (const [index, [what, [source, reason]]] of Object.entries(REFUSED).entries())
    it(`with ${what}: refused, with the file and where to read more`, async () => {
      const file = fileWith(`refused-${String(index)}.ts`, source);
      const text = await failureOf(file);
      expect(text)
        .to.match(/^The detector .*\.ts cannot be loaded: /)
        .and.to.contain(file)
        .and.to.contain(reason);
      expect(text).to.contain('docs/extending/typescript.md');
    });

  it('of a package is JavaScript: its TypeScript is refused', async () => {
    fileWith('node_modules/good/package.json', '{ "name": "good", "type": "module", "exports": "./index.js" }');
    fileWith('node_modules/good/index.js', 'export default 9;');
    fileWith('node_modules/bad/package.json', '{ "name": "bad", "type": "module", "exports": "./index.ts" }');
    fileWith('node_modules/bad/index.ts', 'export default 9 as number;');
    expect(await defaultExport('good', 'detector', folder)).to.equal(9);
    expect(await failureOf('bad', folder)).to.match(/^The detector bad cannot be loaded: .*node_modules/);
    expect(await failureOf('absent', folder)).to.match(/^The detector absent cannot be loaded: Cannot find package 'absent'/);
  });
});

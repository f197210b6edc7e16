import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compile } from '../../main/compile.mjs';

describe('Compiling the sources', () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'logweir-compile-'))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  };
  const compiled = (name: string): string => readFileSync(path.join(root, 'dist', name), 'utf8');

  it('takes the types off, keeps each line and column, and names imports by what they become', () => {
    write(
      'main/a.ts',
      "import type { A } from './types.ts';\nimport {\n  b,\n  type B,\n} from '../pipeline/b.ts';\nimport './c.mjs';\nexport * from './d.ts';\nexport const e = (x: A): B => b(x);\nexport const later = () => import('./e.ts');\nexport const path = './f.ts';\n",
    );
    compile(root);
    const text = compiled('main/a.js');
    expect(text.split('\n').map((line) => line.trimEnd())).to.deep.equal([
      '',
      'import {',
      '  b,',
      '',
      "} from '../pipeline/b.js';",
      "import './c.mjs';",
      "export * from './d.js';",
      'export const e = (x   )    => b(x);',
      "export const later = () => import('./e.js');",
      "export const path = './f.ts';",
      '',
    ]);
  });

  it('writes what has changed, and nothing else: modules that are JavaScript as they are, no declarations', () => {
    write('main/a.ts', 'export const a: number = 1;\n');
    write('main/b.mjs', "import './a.ts';\n");
    write('main/c.d.ts', 'export declare const c: number;\n');
    write('pipeline/wasm/assembly/d.ts', 'export const d: i32 = 1;\n');
    compile(root);
    expect([compiled('main/a.js'), compiled('main/b.mjs')]).to.deep.equal(['export const a         = 1;\n', "import './a.ts';\n"]);
    for (const name of ['main/c.d.js', 'main/c.js', 'pipeline/wasm/assembly/d.js'])
      expect(statSync(path.join(root, 'dist', name), { throwIfNoEntry: false }), name).to.equal(undefined);
    const mark = new Date('2026-01-01T00:00:00Z');
    const source = path.join(root, 'main/a.ts');
    writeFileSync(path.join(root, 'dist/main/a.js'), 'as it was');
    const { mtime } = statSync(source);
    utimesSync(path.join(root, 'dist/main/a.js'), mtime, mtime);
    compile(root);
    expect(compiled('main/a.js')).to.equal('as it was');
    // older than before, as another branch may be
    utimesSync(source, mark, mark);
    compile(root);
    expect(compiled('main/a.js')).to.match(/^export const a/);
  });

  it('names the file whose syntax is wrong', () => {
    write('main/a.ts', 'export const = 1;\n');
    expect(() => compile(root)).to.throw(/^main\/a\.ts: error /);
    write('main/a.ts', 'enum A { b }\n');
    expect(() => compile(root)).to.throw(/^main\/a\.ts: error .*enum/);
  });
});

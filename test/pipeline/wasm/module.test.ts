import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load } from '../../../pipeline/wasm/module.ts';

describe('the WebAssembly module', () => {
  let folder = '';
  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'wasm-'))));
  after(() => rmSync(folder, { recursive: true }));

  it('that is not there is undefined', () => expect(load(path.join(folder, 'none.wasm'))).to.equal(undefined));

  it('that cannot be compiled is undefined', () => {
    const file = path.join(folder, 'damaged.wasm');
    writeFileSync(file, Buffer.from([0, 0x61, 0x73, 0x6d, 9, 9]));
    expect(load(file)).to.equal(undefined);
  });
});

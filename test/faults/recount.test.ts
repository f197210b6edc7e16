import { expect } from 'chai';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compress } from 'snappyjs';
import { logColumns } from '../../bench/wire/columns.ts';
import { benchLogs } from '../../bench/wire/logs.ts';
import { lz4Bound, lz4Compress } from '../../pipeline/wasm/lz4.ts';
import { Random } from '../fuzz/random.ts';
import { python } from './verdict.ts';

const FOLDER = path.join(import.meta.dirname, 'recount');

describe('the recount', function () {
  this.timeout(240_000);

  it('finds what must not be, and nothing where all is well', async () => {
    // unittest prints to stderr; what fails makes the exit code 1, and python() throws
    await python([path.join(FOLDER, 'test_recount.py')]);
  });

  it('reads columns', async () => {
    await python([path.join(FOLDER, 'test_columns.py')]);
  });

  it('reads what is compressed with LZ4', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-recount-'));
    try {
      const texts = [Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(3000, 'ab'), logColumns(benchLogs(200, 1_700_000_000_000))];
      const cases = texts.map((text) => {
        const block = Buffer.alloc(lz4Bound(text.length));
        return [block.subarray(0, lz4Compress(text, 0, text.length, block, 0)).toString('hex'), text.toString('hex')];
      });
      const file = path.join(folder, 'cases.json');
      writeFileSync(file, JSON.stringify(cases));
      const program = `import json, sys; sys.path.insert(0, sys.argv[1]); import lz4
cases = json.load(open(sys.argv[2]))
print(sum(lz4.decompress(bytes.fromhex(packed), len(plain) // 2).hex() == plain for packed, plain in cases))`;
      expect(Number(await python(['-c', program, FOLDER, file]))).to.equal(texts.length);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reads what others have compressed with snappy', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-recount-'));
    try {
      const random = new Random(3);
      const texts = Array.from({ length: 40 }, (_, index) => {
        const words = Array.from({ length: index * 20 }, () =>
          random.pick(['uid=1-2', 'request', 'a', String(random.below(99)), 'é'.repeat(random.below(80))]),
        );
        return Buffer.from(words.join(' '));
      });
      const file = path.join(folder, 'cases.json');
      writeFileSync(file, JSON.stringify(texts.map((text) => [Buffer.from(compress(text)).toString('hex'), text.toString('hex')])));
      const program = `import json, sys; sys.path.insert(0, sys.argv[1]); import snappy
cases = json.load(open(sys.argv[2]))
print(sum(snappy.decompress(bytes.fromhex(packed)).hex() == plain for packed, plain in cases))`;
      expect(Number(await python(['-c', program, FOLDER, file]))).to.equal(texts.length);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

import { expect } from 'chai';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compress } from 'snappyjs';
import { Random } from '../fuzz/random.ts';
import { python } from './verdict.ts';

const FOLDER = path.join(import.meta.dirname, 'recount');

describe('the recount', function () {
  this.timeout(240_000);

  it('finds what must not be, and nothing where all is well', async () => {
    // unittest prints to stderr; what fails makes the exit code 1, and python() throws
    await python([path.join(FOLDER, 'test_recount.py')]);
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

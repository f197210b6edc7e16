import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Ledger } from './ledger.ts';

describe('Ledger', () => {
  it('has each line on the disk, whole and in order, when its promise resolves', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-ledger-'));
    const file = path.join(folder, 'ledger.jsonl');
    const ledger = new Ledger(file);
    const read = (): { request: string }[] =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { request: string });
    try {
      const names = Array.from({ length: 200 }, (_, index) => `r${String(index)}`);
      await Promise.all(
        names.map(async (request) => {
          await ledger.append({ kind: 'acked', request, status: 200, tookMs: 1 });
          expect(read().map((line) => line.request)).to.include(request);
        }),
      );
      expect(read().map(({ request }) => request)).to.deep.equal(names);
    } finally {
      await ledger.close();
      rmSync(folder, { recursive: true });
    }
  });
});

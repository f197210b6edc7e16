import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Ledger, type Write } from './ledger.ts';

describe('Ledger', () => {
  let folder: string;
  let ledger: Ledger;
  const open = (write?: Write): Ledger => (ledger = new Ledger(path.join(folder, 'ledger.jsonl'), write));
  const append = (request: string): Promise<void> => ledger.append({ kind: 'acked', request, status: 200, tookMs: 1 });
  /** The requests of whole lines: after the last line feed there is what is being written. */
  const read = (): string[] =>
    readFileSync(ledger.file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { request: string }).request);

  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-ledger-'));
  });
  afterEach(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true });
  });

  const names = Array.from({ length: 200 }, (_, index) => `r${String(index)}`);
  const each = async (): Promise<void> => {
    await Promise.all(
      names.map(async (request) => {
        await append(request);
        expect(read()).to.include(request);
        // others write meanwhile
        await append(`${request} again`);
        expect(read()).to.include(`${request} again`);
      }),
    );
    expect(read()).to.deep.equal([...names, ...names.map((request) => `${request} again`)]);
  };

  it('has each line on the disk, whole and in order, when its promise resolves', async () => {
    open();
    await each();
  });

  it('has them there too where the system takes a few bytes at a time, and others read between', async () => {
    const seen = new Set<string>();
    open((fd, bytes) => {
      const bytesWritten = writeSync(fd, bytes, 0, Math.min(bytes.length, 1000));
      seen.add(readFileSync(ledger.file, 'utf8').endsWith('\n') ? 'whole' : 'torn');
      for (const request of read()) expect(request).to.match(/^r\d+( again)?$/);
      return Promise.resolve({ bytesWritten });
    });
    await each();
    expect(seen).to.include('torn');
  });

  it('takes a line that comes as soon as the one before is written', async () => {
    open();
    for (const request of names.slice(0, 20)) await append(request);
    expect(read()).to.deep.equal(names.slice(0, 20));
  });

  it('says so where a line cannot be written, and goes on', async () => {
    let tries = 0;
    open((fd, bytes) => (++tries === 1 ? Promise.reject(new Error('full')) : Promise.resolve({ bytesWritten: writeSync(fd, bytes) })));
    const failed = await append('a').catch((error: unknown) => error);
    expect(failed).to.be.an('error').with.property('message', 'full');
    await append('b');
    expect(read()).to.deep.equal(['b']);
  });
});

import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readLock, takeLock } from '../../main/lock.mjs';

describe('lock', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'logweir-lock-'));
    file = path.join(folder, 'lock');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is held by one, until that one lets go', () => {
    const first = takeLock(file);
    expect(first.heldBy).to.equal(null);
    expect(takeLock(file).heldBy).to.equal(process.pid);
    first.release?.();
    expect(readLock(file)).to.equal(null);
    expect(takeLock(file).heldBy).to.equal(null);
  });

  const stale: Record<string, () => string> = {
    'a process that has ended': () => {
      const { pid } = spawnSync('true');
      return JSON.stringify({ pid, startTime: '1' });
    },
    'an earlier process with the number of a living one': () => JSON.stringify({ pid: process.pid, startTime: '1' }),
    'nobody, because the machine went down while it was written': () => '',
  };
  for (const [holder, text] of Object.entries(stale)) {
    it(`is taken over from ${holder}`, () => {
      writeFileSync(file, text());
      expect(takeLock(file).heldBy).to.equal(null);
      expect(readLock(file)?.pid).to.equal(process.pid);
      expect(readdirSync(folder)).to.deep.equal(['lock']);
    });
  }

  it('is left alone by one who does not hold it any more', () => {
    const first = takeLock(file);
    writeFileSync(file, JSON.stringify({ pid: 1, startTime: '1' }));
    first.release?.();
    expect(readLock(file)?.pid).to.equal(1);
  });
});

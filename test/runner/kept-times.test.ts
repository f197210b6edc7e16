import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { KeptTimes, LONG_FILES } from './kept-times.ts';
import { filesOf, STAGES } from './parts.ts';

describe('how long a test file takes', () => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'logweir-times-'));
  after(() => rmSync(root, { recursive: true }));
  const [long = ''] = Object.keys(LONG_FILES);

  it('is what it took the last time', () => {
    const times = new KeptTimes(root);
    times.put(long, 7);
    times.save();
    expect(new KeptTimes(root).of(long)).to.equal(7);
  });

  it('is taken from its size at first, but for those that are known to take long', () => {
    const fresh = new KeptTimes(path.join(root, 'other'));
    writeFileSync(path.join(root, 'a.test.ts'), 'x'.repeat(500));
    expect(new KeptTimes(root).of('a.test.ts')).to.equal(50);
    expect([fresh.of('nowhere.test.ts'), fresh.of(long)]).to.deep.equal([0, LONG_FILES[long]]);
  });

  it('is known of files that there are', () => {
    const all = STAGES.flatMap(({ parts }) => parts.flatMap((part) => filesOf(part, path.resolve(import.meta.dirname, '../..'))));
    expect(all).to.include.members(Object.keys(LONG_FILES));
  });
});

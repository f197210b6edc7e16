import { expect } from 'chai';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fill, freePercent, makeRoom, mountSmallDisk, whyNoSmallDisk } from './small-disk.ts';

describe('a small disk', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-disk-'));
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('is filled as far as it may be, emptied, and taken away', async function () {
    const why = whyNoSmallDisk(folder);
    if (why !== null) {
      console.warn(`      not tried: ${why}`);
      this.skip();
    }
    const disk = path.join(folder, 'disk');
    const unmount = mountSmallDisk(disk, 20);
    try {
      expect(await freePercent(disk)).to.be.above(99);
      expect(await fill(disk, 10, 5)).to.equal(true);
      expect(await freePercent(disk)).to.be.closeTo(50, 1);
      expect(await fill(disk, 100, 25)).to.equal(false);
      expect(await freePercent(disk)).to.be.within(20, 25);
      makeRoom(disk);
      expect(await freePercent(disk)).to.be.above(99);
    } finally {
      unmount();
    }
    unmount(); // twice is once
    expect(existsSync(disk)).to.equal(true);
    expect(readdirSync(disk)).to.deep.equal([]);
  });
});

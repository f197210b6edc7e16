import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cpuMsOf, ownBytesOf } from '../../../pipeline/core/process-usage.ts';

describe('what a process uses', () => {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('is CPU time as the system has counted it', () => {
    const { user, system } = process.cpuUsage();
    const counted = cpuMsOf(process.pid);
    const after = process.cpuUsage();
    expect(counted).to.be.within((user + system) / 1000 - 20, (after.user + after.system) / 1000 + 20);
  });

  it("is memory of its own, without Node's file, which all processes share", async () => {
    const program = "globalThis.held = Buffer.alloc(64e6, 1); console.log('ready'); setInterval(() => {}, 1e6);";
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      const status = readFileSync(`/proc/${String(child.pid)}/status`, 'utf8');
      const bytesOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
      expect(ownBytesOf(child.pid)).to.be.within(64e6, bytesOf('VmRSS') - 30e6);
      expect(Math.abs(ownBytesOf(child.pid) - bytesOf('RssAnon'))).to.be.below(16e6);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('cannot be known of a process that is not there', () => {
    for (const pid of [0, undefined]) expect([cpuMsOf(pid), ownBytesOf(pid)]).to.deep.equal([null, 0]);
  });
});

import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpuMs } from '../cpu-time.ts';
import { treeCpuMs } from './tree-cpu.ts';

/** Computes for so long, says so, and stays until its input ends. */
const BUSY = `const { user } = process.cpuUsage(); while (process.cpuUsage().user - user < 300_000); console.log('done'); process.stdin.resume().on('end', () => process.exit(0));`;

describe('the CPU of a tree of processes', () => {
  it('has that of a process that runs, and still when it has ended', async function () {
    if (process.platform !== 'linux') return this.skip();
    const before = treeCpuMs();
    const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const own = cpuMs();
    expect(treeCpuMs() - before).to.be.above(290);
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
    expect(treeCpuMs() - before).to.be.above(290);
    expect(own, 'of this process alone').to.be.below(treeCpuMs());
  });
});

import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { until } from '../e2e/instance.ts';
import { KeptProcess, type Launch, type ProcessEvent } from './kept-process.ts';

/** A process that does nothing until it is ended. */
const idle: Launch = (onSpawn) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ['-e', 'process.stdout.write("up"); setInterval(() => {}, 1000)'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onSpawn(child.pid ?? 0);
    const exited = new Promise<string>((ended) => child.once('exit', (_, signal) => ended(`signal ${String(signal)}`)));
    child.stdout.once('data', () =>
      resolve({
        exited,
        stop: async () => {
          child.kill('SIGTERM');
          await exited;
        },
      }),
    );
  });

describe('KeptProcess', () => {
  const events: ProcessEvent[] = [];
  const make = (launch: Launch = idle): KeptProcess => new KeptProcess('idle', launch, (event) => events.push(event));
  const kinds = (): string[] => events.map(({ kind }) => kind);

  beforeEach(() => {
    events.length = 0;
  });

  it('is started again when it is killed, with another number', async () => {
    const kept = make();
    await kept.start();
    const first = kept.pid;
    await kept.kill();
    await kept.until(() => kept.isUp);
    expect(kept.pid).to.not.equal(first);
    expect(kept.starts).to.equal(2);
    await kept.stop();
    expect(kinds()).to.deep.equal(['up', 'kill', 'gone', 'up', 'stop', 'gone']);
    expect(kept.pid).to.equal(0);
  });

  it('stays down while it is held', async () => {
    const kept = make();
    await kept.start();
    kept.hold();
    await kept.kill();
    expect(kept.pid).to.equal(0);
    await kept.kill(); // nobody is there
    await kept.start();
    expect(kept.isUp).to.equal(true);
    await kept.stop();
  });

  it('is stopped and goes on', async () => {
    const kept = make();
    await kept.start();
    const state = (): Promise<string> =>
      Promise.resolve(/^State:\s+(\w)/m.exec(readFileSync(`/proc/${String(kept.pid)}/status`, 'utf8'))?.[1] ?? '');
    const began = Date.now();
    expect(kept.stoodStillSince(began)).to.equal(false);
    kept.pause();
    expect(kept.isUp).to.equal(false);
    expect(kept.stoodStillSince(began)).to.equal(true);
    await until('a stopped process', state, (letter) => letter === 'T');
    kept.resume();
    await until('a process that runs', state, (letter) => letter !== 'T');
    expect(kept.isUp).to.equal(true);
    expect(kept.stoodStillSince(began)).to.equal(true);
    expect(kept.stoodStillSince(Date.now() + 1)).to.equal(false);
    kept.pause();
    await kept.stop();
    expect(kinds().slice(-4)).to.deep.equal(['pause', 'resume', 'stop', 'gone']);
  });

  it('tries again after a later start that failed', async () => {
    let tries = 0;
    const kept = make((onSpawn) => (++tries === 2 ? Promise.reject(new Error('no room')) : idle(onSpawn)));
    await kept.start();
    await kept.kill();
    await kept.until(() => kept.isUp);
    expect(events.filter(({ kind }) => kind === 'gone').map(({ how }) => how)).to.deep.equal(['signal SIGKILL', 'no room']);
    await kept.stop();
  });

  it('gives up where its very first start fails', async () => {
    const kept = make(() => Promise.reject(new Error('no room')));
    let failure: unknown;
    await kept.start().catch((error: unknown) => (failure = error));
    expect(failure).to.be.instanceOf(Error).and.have.property('message', 'no room');
    await kept.stop();
    expect(kept.starts).to.equal(1);
  });
});

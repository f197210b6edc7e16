import { expect } from 'chai';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { RuntimeError, assertCanInstall, runtimeOf } from '../../main/runtime.mjs';
import { isRunning, until } from './instance.ts';

const RUNTIME = path.resolve(import.meta.dirname, '../../main/runtime.mjs');
const PACKAGE = `node-${process.platform === 'darwin' && process.arch === 'arm64' ? 'bin-' : ''}${process.platform}-${process.arch}`;

/** A folder as a clone is, with or without the package of the pinned Node: this very one. */
function clone(folder: string, { isInstalled = true } = {}): string {
  const root = mkdtempSync(path.join(folder, 'clone-'));
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ optionalDependencies: { [PACKAGE]: '26.10.0' } }));
  if (!isInstalled) return root;
  symlinkSync(path.dirname(RUNTIME), path.join(root, 'main'));
  const made = path.join(root, 'node_modules', PACKAGE);
  mkdirSync(path.join(made, 'bin'), { recursive: true });
  writeFileSync(path.join(made, 'package.json'), JSON.stringify({ name: PACKAGE, version: '26.10.0' }));
  symlinkSync(process.execPath, path.join(made, 'bin', 'node'));
  return root;
}

describe('the Node that runs the program', () => {
  let folder: string;
  let root: string;
  let bare: string;
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-runtime-'));
    root = clone(folder);
    bare = clone(folder, { isInstalled: false });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const SYSTEM = '/usr/bin/node';
  const pinned = (): string => path.join(root, 'node_modules', PACKAGE, 'bin', 'node');
  const chosen = (version: string, { at = root, env = {}, execPath = SYSTEM }: { at?: string; env?: NodeJS.ProcessEnv; execPath?: string } = {}): string =>
    runtimeOf({ root: at, env, version, execPath }); // prettier-ignore

  it('is the pinned one where the system has another major version', () => {
    for (const version of ['20.19.0', '22.15.1', '24.21.0', '27.0.0']) expect(chosen(version), version).to.equal(pinned());
  });

  it('is the one that runs where it has the same major version', () => {
    expect(chosen('26.0.0')).to.equal(SYSTEM);
  });

  it('is the system’s where LOGWEIR_NODE says so, and never the one that npm puts in front of the PATH', () => {
    const env = { LOGWEIR_NODE: 'system' };
    expect(chosen('24.9.0', { env })).to.equal(SYSTEM);
    expect(() => chosen('24.8.0', { env })).to.throw(RuntimeError, 'LOGWEIR_NODE=system needs Node 24.9 or newer, this is 24.8.0.');
    const bin = path.join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'node'), '#!/bin/sh', { mode: 0o755 });
    const PATH = [path.join(root, 'node_modules', '.bin'), path.join(folder, 'empty'), bin].join(path.delimiter);
    expect(chosen('26.10.0', { env: { ...env, PATH }, execPath: pinned() })).to.equal(path.join(bin, 'node'));
    expect(() => chosen('26.10.0', { env: { ...env, PATH: '' }, execPath: pinned() })).to.throw(
      RuntimeError,
      'there is no node on the PATH',
    );
  });

  it('is the system’s where the pinned one is made for no such machine, if that is new enough', () => {
    expect(chosen('24.9.0', { at: bare })).to.equal(SYSTEM);
    expect(() => chosen('24.8.0', { at: bare })).to.throw(RuntimeError, `Node 26.10.0 (the npm package ${PACKAGE}) is not installed here, and 24.8.0 is too old`); // prettier-ignore
  });

  it('is not chosen by a word that LOGWEIR_NODE does not have', () => {
    expect(() => chosen('26.0.0', { env: { LOGWEIR_NODE: '24' } })).to.throw(
      RuntimeError,
      'LOGWEIR_NODE is "pinned" or "system", not "24".',
    );
  });

  it('is installed by 20.19 and newer', () => {
    for (const version of ['20.19.0', '22.0.0', '26.10.0']) assertCanInstall(version);
    for (const version of ['18.20.8', '20.18.3'])
      expect(() => assertCanInstall(version)).to.throw(
        RuntimeError,
        `Node 20.19 or newer is needed to install the packages, this is ${version}.`,
      );
  });

  describe('a launcher that hands over', () => {
    /** Hands over as with Node 20; what it hands over to does `then`, and says with what it was started: a signal that comes then is handled. */
    function launch(then: string): ChildProcess & { readonly lines: string[] } {
      const program = path.join(folder, `launcher-${String(Math.random()).slice(2)}.mjs`);
      const options = `{ root: ${JSON.stringify(root)}, program: import.meta.filename, args: process.argv.slice(2), version: '20.19.0' }`;
      writeFileSync(
        program,
        `import { handOver } from ${JSON.stringify(RUNTIME)};
         if (process.channel === undefined) await handOver(${options});
         ${then}
         console.log(JSON.stringify([process.pid, ...process.argv.slice(2)]));`,
      );
      const launcher = spawn(process.execPath, [program, 'one', 'two words'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const lines: string[] = [];
      launcher.stdout.on('data', (chunk: Buffer) => void lines.push(...chunk.toString().split('\n').slice(0, -1)));
      return Object.assign(launcher, { lines });
    }
    const WAITS = 'setInterval(() => undefined, 1000);';

    /** The process that it has handed over to, once that runs. */
    async function started(launcher: ChildProcess & { readonly lines: string[] }): Promise<number> {
      await until(() => launcher.lines.length > 0, 'the program runs', 60_000);
      const [pid, ...args] = JSON.parse(launcher.lines[0] ?? '') as [number, ...string[]];
      expect(args).to.deep.equal(['one', 'two words']);
      expect(pid).to.not.equal(launcher.pid);
      return pid;
    }

    it('ends as the other one does', async () => {
      for (const code of [0, 3]) {
        const launcher = launch(`process.exit(${String(code)});`);
        expect((await once(launcher, 'exit'))[0]).to.equal(code);
      }
      const launcher = launch("process.kill(process.pid, 'SIGKILL');");
      expect((await once(launcher, 'exit'))[1]).to.equal('SIGKILL');
    });

    it('does not hand over to itself, though its own file lies among packages and a link on the PATH leads there', () => {
      const packages = path.join(folder, 'node_modules', 'node', 'bin');
      const links = path.join(folder, 'links');
      for (const made of [packages, links]) mkdirSync(made, { recursive: true });
      copyFileSync(process.execPath, path.join(packages, 'node'));
      symlinkSync(path.join(packages, 'node'), path.join(links, 'node'));
      const program = path.join(folder, 'system-launcher.mjs');
      writeFileSync(
        program,
        `import { handOver } from ${JSON.stringify(RUNTIME)};
         await handOver({ root: ${JSON.stringify(root)}, program: import.meta.filename, args: [] });
         console.log(process.channel === undefined ? 'by itself' : 'handed over');`,
      );
      const env = { PATH: links, LOGWEIR_NODE: 'system' };
      expect(execFileSync(path.join(links, 'node'), [program], { env, timeout: 60_000 }).toString()).to.equal('by itself\n');
    });

    it('passes signals on', async () => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        const launcher = launch(`process.on('${signal}', () => { console.log('${signal}'); process.exit(7); }); ${WAITS}`);
        await started(launcher);
        launcher.kill(signal);
        expect((await once(launcher, 'exit'))[0]).to.equal(7);
        expect(launcher.lines.at(-1)).to.equal(signal);
      }
    });

    it('leaves nothing running when it is killed', async () => {
      const launcher = launch(WAITS);
      const pid = await started(launcher);
      launcher.kill('SIGKILL');
      await until(() => !isRunning(pid), 'the other one has ended', 60_000);
    });
  });
});

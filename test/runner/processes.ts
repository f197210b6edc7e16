import { fork, spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Batch, Message } from './messages.ts';

const PROGRAM = path.join(import.meta.dirname, 'mocha-process.ts');
/** Of what a process prints, so much is kept for when it fails. */
const KEPT_CHARS = 20_000;

export type Ended = { readonly code: number; readonly output: string };

export type Spawn = {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** Takes what it prints, as it comes. */
  readonly onOutput?: (text: string) => void;
};

/** Runs a tool to its end. */
export function runTool(args: readonly string[], { root, env, onOutput }: Spawn): Promise<Ended> {
  return endOf(spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }), onOutput);
}

/** A process that runs test files, one batch after the other. */
export class TestProcess {
  readonly #child: ChildProcess;
  /** With its exit code and what it printed last. */
  readonly ended: Promise<Ended>;

  constructor({ root, env, onOutput }: Spawn, onMessage: (message: Message) => void) {
    this.#child = fork(PROGRAM, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] });
    this.#child.on('message', (message) => onMessage(message as Message));
    this.ended = endOf(this.#child, onOutput);
  }

  /** True once the batch is done, false where the process ended before. */
  run(batch: Batch): Promise<boolean> {
    const done = new Promise<boolean>((resolve) => {
      const onMessage = (message: unknown): void => {
        if ((message as Message).kind !== 'done') return;
        this.#child.off('message', onMessage);
        resolve(true);
      };
      this.#child.on('message', onMessage);
    });
    this.#child.send(batch, () => undefined);
    return Promise.race([done, this.ended.then(() => false)]);
  }

  /** Has it end what its files share, and then itself. */
  async end(): Promise<void> {
    const last: Batch = { files: [], timeoutMs: 0 };
    this.#child.send(last, () => undefined);
    await this.ended;
  }
}

function endOf(child: ChildProcess, onOutput?: (text: string) => void): Promise<Ended> {
  let output = '';
  const take = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-KEPT_CHARS);
    onOutput?.(chunk.toString());
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const onExit = (): void => void child.kill('SIGKILL');
  process.once('exit', onExit);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 1, output: error.message }));
    child.once('close', (code, signal) => {
      process.off('exit', onExit);
      resolve({ code: code ?? 1, output: signal === null ? output : `${output}\nIt was ended by ${signal}.` });
    });
  });
}

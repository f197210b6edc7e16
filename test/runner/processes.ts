import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Message, Order } from './messages.ts';

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
export function runTool(args: readonly string[], options: Spawn): Promise<Ended> {
  return runNode(args, options, () => undefined);
}

/** Runs test files in one process, in order. */
export function runFiles(order: Order, options: Spawn, onMessage: (message: Message) => void): Promise<Ended> {
  return runNode([PROGRAM, JSON.stringify(order)], options, onMessage);
}

function runNode(args: readonly string[], { root, env, onOutput }: Spawn, onMessage: (message: Message) => void): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let output = '';
  const take = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-KEPT_CHARS);
    onOutput?.(chunk.toString());
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  child.on('message', (message) => onMessage(message as Message));
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

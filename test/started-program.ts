import { spawn } from 'node:child_process';
import { until } from './e2e/instance.ts';

/** A program of others that a test compares with; `stop` resolves when it has ended. */
export type StartedProgram = { readonly pid: number; stop(): Promise<void> };

/** Starts a program that serves HTTP, and waits until `readyUrl` answers 200. Throws what it printed where it ends before. */
export async function startProgram(name: string, binary: string, args: readonly string[], readyUrl: string): Promise<StartedProgram> {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output = (output + part.toString()).slice(-8192)));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const isUp = (): Promise<boolean> =>
    fetch(readyUrl).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(name, isUp, (up) => up || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`${name} ended with ${String(child.exitCode)}: ${output}`);
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

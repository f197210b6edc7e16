import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

export type RunOptions = {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Runs a program to its end and answers its exit code (-1 where it could not run) and the last 64 KiB of what it printed. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, env, signal }: RunOptions = {},
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: env ?? process.env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (part: Buffer): void => {
      output = (output + part.toString()).slice(-65_536);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => resolve({ code: -1, output: output + error.message }));
    child.once('close', (code) => resolve({ code: code ?? -1, output }));
  });
}

/** The full path of a program of the PATH. */
export function findProgram(name: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

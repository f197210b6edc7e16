import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './start-error.ts';

const LOG_FILE_MAX_BYTES = 10 * 1024 * 1024;

/** The process of an engine. */
export type EngineProcess = {
  readonly pid: number;
  /** How it ended, as a string for a log line (`signal SIGKILL`). */
  readonly exited: Promise<string>;
  readonly kill: () => void;
  readonly terminate: () => void;
};

/** An engine that takes requests. */
export type RunningEngine = {
  readonly pid: number;
  /** Resolves when the process has ended, with how it ended (`signal SIGKILL`). */
  readonly exited: Promise<string>;
  /** Ends it cleanly, within 15 s. Safe to call twice. */
  readonly stop: () => Promise<void>;
  /** Ends it at once. */
  readonly kill: () => void;
};

/** What every engine needs to start. */
export type EngineOptions = {
  /** The instance's data directory; everything of the engine is in its folder `kafka` or `clickhouse`. */
  readonly dataDir: string;
  /** Takes progress lines. */
  readonly log?: ((line: string) => void) | undefined;
  /** Writes to the disk itself before it acknowledges, so that a power loss takes nothing. */
  readonly survivesPowerLoss?: boolean | undefined;
  /** Is given the process id as soon as there is one, long before the engine is ready. */
  readonly onSpawn?: ((pid: number) => void) | undefined;
  /** Aborted: the engine that is starting is killed, and the start fails. */
  readonly signal?: AbortSignal | undefined;
};

export type EngineCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly logFile: string;
  /** Of a program of Node: its environment. Its channel to this process closes when this one has exited. */
  readonly env?: NodeJS.ProcessEnv;
};

/**
 * Spawns an engine in a process group of its own (a Ctrl-C of the terminal must not reach it before the roles have
 * drained), with everything it prints appended to a log file.
 */
export function spawnEngine({ command, args, cwd, logFile, env }: EngineCommand): EngineProcess {
  const log = openLog(logFile);
  const channel: 'ipc'[] = env === undefined ? [] : ['ipc'];
  const child = spawn(command, args, {
    cwd,
    detached: true,
    stdio: ['ignore', log, log, ...channel],
    ...(env === undefined ? {} : { env }),
  });
  closeSync(log);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be run: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${String(code)}` : `signal ${signal}`));
  });
  return { pid: child.pid ?? 0, exited, kill: () => void child.kill('SIGKILL'), terminate: () => void child.kill('SIGTERM') };
}

export type Wait = { readonly logFile: string; readonly timeoutMs: number; readonly signal?: AbortSignal | undefined };

/**
 * Polls CHECK until it holds. Fails when the engine ends first, when the time has passed or when the signal is aborted;
 * the engine has exited by then.
 */
export async function untilReady(
  name: string,
  engine: EngineProcess,
  check: () => Promise<boolean>,
  { logFile, timeoutMs, signal }: Wait,
): Promise<void> {
  const ended: string[] = [];
  void engine.exited.then((how) => ended.push(how));
  const deadline = Date.now() + timeoutMs;
  while (!(await check())) {
    if (ended[0] !== undefined) throw new StartError(`${name} ended while it started (${ended[0]}): ${lastLine(logFile)}`);
    if (signal?.aborted === true || Date.now() > deadline) {
      engine.kill();
      await engine.exited;
      throw new StartError(
        signal?.aborted === true
          ? `${name} was stopped while it started.`
          : `${name} was not ready after ${timeoutMs / 1000} s: ${lastLine(logFile)}`,
      );
    }
    await sleep(50);
  }
}

/** Waits for the end of an engine that was signalled to stop, and kills it when the time has passed. */
export async function untilExited(engine: EngineProcess, timeoutMs: number): Promise<void> {
  const timer = setTimeout(engine.kill, timeoutMs);
  await engine.exited;
  clearTimeout(timer);
}

/** The last line of a log file that is not empty, for an error's sentence. */
function lastLine(file: string): string {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.at(-1)?.trim() || `see ${file}`;
  } catch {
    return `see ${file}`;
  }
}

/** Opens a log for appending; one that has grown large is renamed first, keeping one old file. */
export function openLog(file: string): number {
  mkdirSync(path.dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_FILE_MAX_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

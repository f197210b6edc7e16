import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './start-error.mjs';

const LOG_FILE_MAX_BYTES = 10 * 1024 * 1024;

/**
 * Spawns an engine in a process group of its own (a Ctrl-C of the terminal must not reach it before the roles have
 * drained), with everything it prints appended to a log file.
 * @param {{ command: string, args: readonly string[], cwd: string, logFile: string, env?: NodeJS.ProcessEnv }} options
 */
export function spawnEngine({ command, args, cwd, logFile, env }) {
  const log = openLog(logFile);
  const child = spawn(command, args, { cwd, env: env ?? process.env, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  /** @type {Promise<string>} how the process ended, as text for a log line */
  const exited = new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be run: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  const kill = () => void child.kill('SIGKILL');
  return { pid: child.pid ?? 0, exited, kill, terminate: () => void child.kill('SIGTERM') };
}

/**
 * Polls CHECK until it holds. Fails when the engine ends first, when TIMEOUT has passed or when SIGNAL is aborted;
 * the engine is gone by then.
 * @param {string} name
 * @param {ReturnType<typeof spawnEngine>} engine
 * @param {() => Promise<boolean>} check
 * @param {{ logFile: string, timeoutMs: number, signal?: AbortSignal | undefined }} options
 */
export async function untilReady(name, engine, check, { logFile, timeoutMs, signal }) {
  let ended = '';
  void engine.exited.then((how) => (ended = how));
  const deadline = Date.now() + timeoutMs;
  while (!(await check())) {
    if (ended !== '') throw new StartError(`${name} ended while it started (${ended}): ${lastLine(logFile)}`);
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

/**
 * Waits for the end of an engine that was asked to stop, and kills it when TIMEOUT has passed.
 * @param {ReturnType<typeof spawnEngine>} engine
 * @param {number} timeoutMs
 */
export async function untilExited(engine, timeoutMs) {
  const timer = setTimeout(engine.kill, timeoutMs);
  await engine.exited;
  clearTimeout(timer);
}

/**
 * The last line of a log file that is not empty, for an error's sentence.
 * @param {string} file
 */
export function lastLine(file) {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.at(-1)?.trim() || `see ${file}`;
  } catch {
    return `see ${file}`;
  }
}

/**
 * Opens a log for appending; one that has grown large makes room first, keeping one old file.
 * @param {string} file
 */
export function openLog(file) {
  mkdirSync(path.dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_FILE_MAX_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

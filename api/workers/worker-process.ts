import { spawn, type ChildProcess } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { cpuMsOf, ownBytesOf } from '../../pipeline/core/process-usage.ts';
import { frameOf, FrameReader, jsonFrame, PING, PONG, SETTINGS, type Frame } from './frames.ts';

/** Most megabytes of objects of one process, by default; it ends where it needs more. */
const HEAP_MB = 128;
/** How far the heap grows beyond what is in use before a collection: V8's default is half as much again, and more. Percent. */
const HEAP_GROWTH = 25;
/** How far a worker lowers its priority: what writes, and the app process itself, come first. */
const NICE = 5;
const PIPE = 3;
const EXTENSION = path.extname(import.meta.filename);

export type WorkerEvents = {
  readonly onFrame: (frame: Frame) => void;
  /** The process has exited; `how` for people. */
  readonly onExit: (how: string) => void;
};

/**
 * What a worker runs: the path of a module, without its extension where it is this one's, most megabytes of objects, and how far its priority is
 * below that of other workers.
 */
export type WorkerProgram = { readonly module: string; readonly heapMb?: number; readonly patience?: number };

/** One worker: a process of its own, which ends with this one, and the frames sent to it. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  /** Since when a ping has no answer; null: none is open. By `performance.now()`. */
  #pingedAt: number | null = null;

  /** Its settings are the first frame that it receives. */
  constructor(settings: unknown, { onFrame, onExit }: WorkerEvents, { module, heapMb = HEAP_MB, patience = 0 }: WorkerProgram) {
    const file = path.extname(module) === '' ? module + EXTENSION : module;
    const flags = [
      `--max-old-space-size=${String(heapMb)}`,
      `--heap-growing-percent=${String(HEAP_GROWTH)}`,
      '--max-semi-space-size=4',
      '--expose-gc',
    ];
    // what V8 has compiled is kept: a worker begins a fifth faster with it
    const cache = process.env['NODE_COMPILE_CACHE'];
    const env = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };
    this.#child = spawn(process.execPath, [...flags, file], { env, stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
    this.#pipe = this.#child.stdio[PIPE] as Duplex;
    const reader = new FrameReader((frame) => {
      if (frame.type === PONG) this.#pingedAt = null;
      else onFrame(frame);
    });
    this.#pipe.on('data', (bytes: Buffer) => {
      reader.take(bytes);
    });
    // the exit reports it
    this.#pipe.on('error', () => undefined);
    this.#child.once('error', (error) => onExit(error.message));
    this.#child.once('exit', (code, signal) => onExit(signal ?? `exit code ${String(code)}`));
    const { pid } = this.#child;
    if (pid !== undefined) os.setPriority(pid, Math.min(os.getPriority() + NICE + patience, 19));
    this.send(jsonFrame(SETTINGS, 0, settings));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(parts: readonly Uint8Array[]): void {
    this.#pipe.cork();
    for (const part of parts) this.#pipe.write(part);
    this.#pipe.uncork();
  }

  /** Sends a ping unless one is open already. Returns how long one has had no answer, milliseconds. */
  silentMs(now: number): number {
    if (this.#pingedAt !== null) return now - this.#pingedAt;
    this.#pingedAt = now;
    this.send(frameOf(PING));
    return 0;
  }

  /** What it takes of the machine's memory for itself, in bytes; 0 where that cannot be known. */
  memory(): number {
    return ownBytesOf(this.#child.pid);
  }

  /** CPU time that it has taken, in milliseconds; null where that cannot be known. */
  cpuMs(): number | null {
    return cpuMsOf(this.#child.pid);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

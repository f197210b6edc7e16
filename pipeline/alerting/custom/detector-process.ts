import { fork, type ChildProcess } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { cpuMsOf, ownBytesOf } from '../../core/process-usage.ts';
import { LONGEST_SCALE, MAX_STATE, type Seen } from '../../detectors/custom.ts';
import type { RequestedSeries, DetectorLook, FromDetector, LookedSeries, ToDetector } from './detector-messages.ts';

/** Most megabytes of objects of a detector's process, and of all its memory; what is beyond ends it. */
const HEAP_MB = 64;
const MOST_MB = 256;
/** CPU that an answer may take, and the time until it must be there, however busy the machine is. Milliseconds. */
const LOOK = { cpuMs: 2000, wallMs: 60_000 } as const;
const LOAD = { cpuMs: 20_000, wallMs: 120_000 } as const;
/** How often it is looked at while it owes an answer. Milliseconds. */
const WATCH_MS = 100;
/** So much it steps back: who writes comes first. */
const NICE = 5;
const EXTENSION = path.extname(import.meta.filename);
const PROGRAM = path.join(import.meta.dirname, `detector-program${EXTENSION}`);
const MB = 1024 * 1024;

/** A file, or a package that is installed in a folder. */
export type DetectorSource = { readonly specifier: string; readonly folder: string };

type Bounds = { readonly cpuMs: number; readonly wallMs: number };

/** What a process may answer. */
type Answer = Exclude<FromDetector, { readonly kind: 'fault' }>;

/**
 * A detector of one's own in a process of its own (docs/adr/0029-custom-detectors.md): it can be killed whatever it does, and what it takes is
 * seen from outside. It has no environment, and ends with this process. It gets one request at a time.
 */
export class DetectorProcess {
  readonly #child: ChildProcess;
  #ids = 0;
  /** Settles the pending request: with its answer, or what was wrong. */
  #pending: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void } | null = null;
  /** Why it has ended; null while it runs. */
  #ended: string | null = null;
  #isKilled = false;

  /** `imports`: modules that are loaded before all others. */
  constructor(imports: readonly string[] = []) {
    const loaded = imports.flatMap((module) => ['--import', module]);
    const flags = [`--max-old-space-size=${String(HEAP_MB)}`, '--max-semi-space-size=4', ...loaded];
    this.#child = fork(PROGRAM, [], { execArgv: flags, env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    this.#child.on('message', (message) => {
      this.#take(message);
    });
    this.#child.once('error', (error) => this.#end(error.message));
    this.#child.once('exit', (code, signal) => {
      this.#isKilled = this.#ended === null && (signal === 'SIGKILL' || signal === 'SIGTERM');
      this.#end(howOf(code, signal));
    });
    const { pid } = this.#child;
    if (pid !== undefined) os.setPriority(pid, Math.min(os.getPriority() + NICE, 19));
  }

  /** Loads the code; resolves with the detectors that it has. Rejects with a sentence that names the file. */
  async load(source: DetectorSource): Promise<readonly DetectorLook[]> {
    const answer = await this.#query({ kind: 'load', ...source }, LOAD).catch((error: unknown) => {
      const { message } = error as Error;
      throw new Error(message.startsWith('The detector ') ? message : `The detector ${source.specifier} cannot be loaded: ${message}`, { cause: error }); // prettier-ignore
    });
    if (answer.kind !== 'loaded')
      throw new Error(`The detector ${source.specifier} cannot be loaded: its process sent an unexpected message.`);
    return answer.detectors;
  }

  /** Sends points of series; rejects with a sentence where the detector throws, does not come to an end, or takes too much memory. */
  async look(detector: string, series: readonly RequestedSeries[]): Promise<readonly LookedSeries[]> {
    const id = ++this.#ids;
    const answer = await this.#query({ kind: 'look', id, detector, series }, LOOK);
    if (answer.kind !== 'looked' || answer.id !== id || !isAnswer(answer.series, series))
      throw new Error('Its process sent an unexpected message.');
    return answer.series;
  }

  /** Milliseconds of CPU that it has used; null where that cannot be known. */
  get cpuMs(): number | null {
    return cpuMsOf(this.#child.pid);
  }

  /** True where another process has killed it, as the kernel does where the machine has no memory. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #query(message: ToDetector, bounds: Bounds): Promise<Answer> {
    if (this.#ended !== null) return Promise.reject(new Error(this.#ended));
    if (this.#pending !== null) throw new Error('BUG: A detector got a request before it answered the last one.');
    return new Promise<Answer>((resolve, reject) => {
      const watch = this.#watch(bounds);
      const done = (): void => {
        clearInterval(watch);
        this.#pending = null;
      };
      this.#pending = {
        resolve: (answer) => {
          done();
          resolve(answer);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      };
      // the channel is closed: how it ended is reported when it is known
      this.#child.send(message, (error) => {
        if (error !== null) this.kill();
      });
    });
  }

  /** Ends it where it uses more than it may. */
  #watch({ cpuMs, wallMs }: Bounds): NodeJS.Timeout {
    const [began, used] = [performance.now(), this.cpuMs ?? 0];
    return setInterval(() => {
      const cpu = (this.cpuMs ?? 0) - used;
      if (cpu > cpuMs) this.#end(`It did not come to an end within ${String(cpuMs / 1000)} s of CPU time.`);
      else if (performance.now() - began > wallMs) this.#end(`It did not come to an end within ${String(wallMs / 1000)} s.`);
      else if (ownBytesOf(this.#child.pid) > MOST_MB * MB) this.#end(`It took more than ${String(MOST_MB)} MB of memory.`);
    }, WATCH_MS);
  }

  #take(message: unknown): void {
    const found = (typeof message === 'object' && message !== null ? message : {}) as { readonly kind?: unknown; readonly fault?: unknown };
    if (found.kind === 'fault') this.#pending?.reject(new Error(String(found.fault).slice(0, 600)));
    else if (found.kind === 'loaded' || found.kind === 'looked') this.#pending?.resolve(found as Answer);
  }

  #end(why: string): void {
    this.#ended ??= why;
    this.kill();
    this.#pending?.reject(new Error(this.#ended));
  }
}

/** How a process ended, for people. Node ends itself by SIGABRT where it gets no more memory. */
function howOf(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === 'SIGABRT' || code === 134) return `Its process ran out of memory (${String(HEAP_MB)} MB of objects).`;
  return `Its process ended by itself (${signal ?? `exit code ${String(code)}`}).`;
}

/** Whether an answer matches the request: its series, states and findings are what they must be. */
function isAnswer(found: unknown, requested: readonly RequestedSeries[]): found is readonly LookedSeries[] {
  return (
    Array.isArray(found) && found.length === requested.length && found.every((one, at) => isLooked(one, requested[at] as RequestedSeries))
  );
}

function isLooked(found: unknown, { points }: RequestedSeries): boolean {
  const { state, seen } = (found ?? {}) as { readonly state?: unknown; readonly seen?: unknown };
  if (typeof state !== 'string' || state.length > MAX_STATE || !Array.isArray(seen) || seen.length > points.length) return false;
  let last = -1;
  return seen.every((one: unknown) => {
    const [index, what] = (Array.isArray(one) ? one : []) as [unknown, Partial<Seen> | undefined];
    if (!Number.isInteger(index) || (index as number) <= last || (index as number) >= points.length) return false;
    last = index as number;
    return isSeen(what);
  });
}

function isSeen(seen: Partial<Seen> | undefined): boolean {
  if (typeof seen !== 'object') return false;
  const { side, z, mean, low, high, scale, value } = seen;
  const isScale = Number.isInteger(scale) && (scale as number) >= 1 && (scale as number) <= LONGEST_SCALE;
  return (side === 'up' || side === 'down') && isScale && [z, mean, low, high, value].every(Number.isFinite);
}

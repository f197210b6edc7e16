import path from 'node:path';
import type { Logger } from 'pino';
import { HttpError, rateLimited, storeUnavailable } from '../../pipeline/core/errors.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { jsonFrame, frameOf, jsonOf, type Frame } from '../workers/frames.ts';
import { receivedError, type SentError } from '../workers/sent-error.ts';
import { WorkerProcess } from '../workers/worker-process.ts';
import { LogPlace, type LogVector } from './place/log-place.ts';
import * as messages from './worker/messages.ts';
import type { LiveSettings, Matched, Missed, OpenedTail, OpenTail } from './worker/messages.ts';

/** What a tail is notified of. */
export type TailListener = {
  /** The rows of an entry as JSON, one a line. `place`: how far the log is read with it. */
  onEntry(text: Buffer, place: LogPlace): void;
  onMissed(missed: Missed): void;
  /** Each entry from now on stands for `factor` entries. */
  onSampled(factor: number): void;
  /** The log is read so far, and all that matched was given. */
  onRead(place: LogPlace): void;
  /** The tail has ended. */
  onFailed(error: Error): void;
};

export type LiveHubOptions = {
  readonly settings: LiveSettings;
  readonly log: Logger;
  /** Is given why a worker was ended, or has ended. */
  readonly onLost?: (why: 'time' | 'crash') => void;
};

type Tail = {
  readonly open: Omit<OpenTail, 'from'>;
  readonly listener: TailListener;
  isOpen: boolean;
  isHeavy: boolean;
  /** Where it has begun, which may be further than the log is read. */
  begin: LogVector;
  readonly resolve: (begin: LogVector) => void;
  readonly reject: (error: Error) => void;
};

const PROGRAM = { module: path.join(import.meta.dirname, 'worker', 'live-worker'), heapMb: 192 };
const LOOK_MS = 250;
/** A worker that is silent for this long is ended, and the tail that it works for. Milliseconds. */
const SILENT_MS = 3000;
/** If it took less CPU time meanwhile, the machine is busy and it is not its turn: it is waited for longer then. Milliseconds. */
const WORKED_MS = 1500;
const STARVED_MS = 15_000;
/** How long a worker has for its start. Milliseconds. */
const START_MS = 30_000;
/** How long a worker runs after its last tail. Milliseconds. */
const IDLE_MS = 10_000;
/** Before another process takes the place of one that has ended. Milliseconds. */
const AGAIN_MS = 250;
/** How long a tenant opens no tail after its filter has delayed all tails. Milliseconds. */
const PENALTY_MS = 60_000;

/**
 * The tails of a process, and the live worker that reads the log for all of them: it is there while there are tails. Where it ends, another one
 * goes on where it was, and nothing is missing or given twice; a tail whose filter holds it up is ended.
 */
export class LiveHub implements Service {
  readonly name = 'live hub';
  readonly #options: LiveHubOptions;
  readonly #tails = new Map<number, Tail>();
  readonly #penalties = new Map<number, number>();
  #place = new LogPlace([]);
  /** CPU time of the worker at the last ping. */
  #pingedCpuMs: number | null = null;
  #worker: WorkerProcess | null = null;
  #isReady = false;
  #noted = 0;
  #numbers = 0;
  #running = true;
  #startedAt = 0;
  #idleAt = 0;
  readonly #looks: NodeJS.Timeout;

  constructor(options: LiveHubOptions) {
    this.#options = options;
    this.#looks = setInterval(() => {
      this.#look();
    }, LOOK_MS).unref();
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#running = false;
    clearInterval(this.#looks);
    for (const id of [...this.#tails.keys()]) this.#fail(id, storeUnavailable());
    this.#end();
    return Promise.resolve();
  }

  /** How many tails are open. */
  get size(): number {
    return this.#tails.size;
  }

  /** The process that reads, for those who watch it. */
  get pid(): number | undefined {
    return this.#worker?.pid;
  }

  /** Opens a tail: resolves with where in the log it begins, before anything is given, and with what ends it. Rejects with HttpError. */
  open(open: Omit<OpenTail, 'from'>, listener: TailListener): { readonly begin: Promise<LogVector>; readonly close: () => void } {
    const id = (this.#numbers = (this.#numbers % 0xffff_ffff) + 1);
    const begin = new Promise<LogVector>((resolve, reject) => {
      this.#tails.set(id, { open, listener, isOpen: false, isHeavy: false, begin: [], resolve, reject });
    });
    const penalty = (this.#penalties.get(open.tenantId) ?? 0) - performance.now();
    if (!this.#running) this.#fail(id, storeUnavailable());
    else if (penalty > 0)
      this.#fail(id, rateLimited('A filter of the tenant has taken too long; open another tail later.', Math.ceil(penalty / 1000)));
    else if (this.#worker === null) this.#begin();
    else if (this.#isReady) this.#send(id, null);
    return {
      begin,
      close: () => {
        if (!this.#tails.has(id)) return;
        this.#forget(id);
        this.#worker?.send(frameOf(messages.CLOSE, id));
      },
    };
  }

  #send(id: number, from: LogVector | null): void {
    const tail = this.#tails.get(id);
    if (tail !== undefined) this.#worker?.send(jsonFrame(messages.OPEN, id, { ...tail.open, from }));
  }

  #begin(): void {
    this.#startedAt = performance.now();
    this.#isReady = false;
    this.#noted = 0;
    const worker = new WorkerProcess(
      this.#options.settings,
      {
        onFrame: (frame) => {
          if (this.#worker === worker) this.#take(frame);
        },
        onExit: (how) => {
          if (this.#worker === worker) this.#lost(how, 'crash');
        },
      },
      PROGRAM,
    );
    this.#worker = worker;
  }

  #take(frame: Frame): void {
    const { type, job, bytes } = frame;
    switch (type) {
      case messages.READY:
        this.#isReady = true;
        for (const [id, tail] of this.#tails) this.#send(id, tail.isOpen ? this.#place.orLater(tail.begin).vector : null);
        break;
      case messages.NOTE:
        this.#noted = job;
        break;
      case messages.OPENED:
        this.#opened(job, jsonOf(frame) as OpenedTail);
        break;
      case messages.ENTRY:
        this.#entry(messages.decodeMatched(bytes));
        break;
      case messages.READ:
        // another worker may begin behind what was given already
        this.#place = this.#place.orLater(jsonOf(frame) as LogVector);
        for (const { listener, isOpen } of this.#tails.values()) if (isOpen) listener.onRead(this.#place);
        break;
      case messages.MISSED: {
        const missed = jsonOf(frame) as Missed;
        for (const id of missed.tails) this.#tails.get(id)?.listener.onMissed(missed);
        break;
      }
      case messages.SAMPLED:
        this.#tails.get(job)?.listener.onSampled(jsonOf(frame) as number);
        break;
      case messages.FAILED:
        this.#fail(job, receivedError(jsonOf(frame) as SentError));
        break;
    }
  }

  #opened(id: number, { begin, read, isHeavy }: OpenedTail): void {
    const tail = this.#tails.get(id);
    if (tail === undefined) return;
    tail.isHeavy = isHeavy;
    if (tail.isOpen) return;
    [tail.isOpen, tail.begin] = [true, begin];
    // what was found before this place was sent before this frame
    this.#place = this.#place.orLater(read);
    tail.resolve(begin);
  }

  #entry({ tails, partition, offset, index, text }: Matched): void {
    this.#place = this.#place.after(partition, offset, index);
    for (const id of tails) {
      const tail = this.#tails.get(id);
      if (tail?.isOpen === true) tail.listener.onEntry(text, this.#place);
    }
  }

  #forget(id: number): void {
    this.#tails.delete(id);
    if (this.#tails.size > 0) return;
    this.#idleAt = performance.now();
    this.#place = new LogPlace([]);
  }

  #fail(id: number, error: Error): void {
    const tail = this.#tails.get(id);
    if (tail === undefined) return;
    this.#forget(id);
    if (tail.isOpen) tail.listener.onFailed(error);
    else tail.reject(error);
  }

  #look(): void {
    const now = performance.now();
    for (const [tenantId, until] of this.#penalties) if (until <= now) this.#penalties.delete(tenantId);
    if (this.#worker === null) return;
    if (this.#tails.size === 0 && now - this.#idleAt > IDLE_MS) {
      this.#end();
      return;
    }
    if (!this.#isReady && now - this.#startedAt < START_MS) return;
    const silentMs = this.#worker.silentMs(now);
    const cpuMs = this.#worker.cpuMs();
    if (silentMs === 0) this.#pingedCpuMs = cpuMs;
    if (!isStuck(silentMs, cpuMs === null || this.#pingedCpuMs === null ? null : cpuMs - this.#pingedCpuMs)) return;
    const culprit = this.#tails.get(this.#noted);
    if (culprit !== undefined) {
      const { tenantId } = culprit.open;
      this.#penalties.set(tenantId, now + PENALTY_MS);
      this.#fail(this.#noted, new HttpError(504, 'query_timeout', 'The query took too long with one entry; simplify it.'));
      // the others of the tenant would hold up the next worker, one after the other
      for (const [id, tail] of this.#tails)
        if (tail.isHeavy && tail.open.tenantId === tenantId)
          this.#fail(
            id,
            new HttpError(504, 'query_timeout', 'Another query of the tenant took too long with one entry, and this one may too.'),
          );
    }
    const worker = this.#worker;
    this.#lost('silence', 'time');
    worker.kill();
  }

  /** The worker has exited: another one goes on. */
  #lost(how: string, why: 'time' | 'crash'): void {
    this.#worker = null;
    this.#isReady = false;
    this.#options.onLost?.(why);
    this.#options.log.warn({ how, tails: this.#tails.size }, 'The live worker ended.');
    setTimeout(() => {
      if (this.#running && this.#worker === null && this.#tails.size > 0) this.#begin();
    }, AGAIN_MS);
  }

  /** It is not needed any more. */
  #end(): void {
    const worker = this.#worker;
    this.#worker = null;
    this.#isReady = false;
    this.#place = new LogPlace([]);
    worker?.kill();
  }
}

/** Whether a worker that is silent hangs, by the CPU time that it took meanwhile; null where that is not known. */
export const isStuck = (silentMs: number, workedMs: number | null): boolean =>
  silentMs >= SILENT_MS && (workedMs === null || workedMs >= WORKED_MS || silentMs >= STARVED_MS);

import { clientClosed } from '../../../pipeline/core/errors.ts';
import type { EngineAnswer, QueryJob } from '../../query/engine.ts';
import { frameOf, MORE } from '../../workers/frames.ts';
import type { AnswerHead, SentPipes } from './messages.ts';

export type PoolJobEvents = {
  readonly resolve: (answer: EngineAnswer) => void;
  readonly reject: (error: unknown) => void;
  /** Called once: it has its answer, or its client no longer waits. */
  readonly onOver: () => void;
};

type Send = (parts: readonly Uint8Array[]) => void;

/** A query in the pool: where it is, and what has come of its answer. */
export class PoolJob {
  readonly job: QueryJob;
  readonly #events: PoolJobEvents;
  /** Under which its worker knows it; another one each time that it is begun. */
  number = 0;
  /** How often it was restarted. */
  moves = 0;
  /** The pipes that its rows go through in the worker. */
  pipes: SentPipes = { names: [], advice: [] };
  /** Its worker has reported that it works on it. */
  isNoted = false;
  /** The worker has sent the whole answer, or an error. */
  isAnswered = false;
  #isOver = false;
  #head: AnswerHead | null = null;
  #parts: Buffer[] = [];
  #send: Send = () => undefined;
  /** When bytes of its answer came or were taken last. */
  #movedAt = 0;
  /** Of a stream: the error that it ends with, and the reader that waits for its next bytes. */
  #failure: Error | null = null;
  #wake: () => void = () => undefined;

  constructor(job: QueryJob, events: PoolJobEvents) {
    this.job = job;
    this.#events = events;
    if (job.signal.aborted) queueMicrotask(this.#leave);
    else job.signal.addEventListener('abort', this.#leave, { once: true });
  }

  /** How much of its time has passed, by `performance.now()`: of a begun export, only the time since its last bytes. Milliseconds. */
  elapsedMs(now: number): number {
    if (this.job.isExport !== true || !this.hasBegun) return now - this.job.startedAt;
    return this.#parts.length > 0 ? 0 : now - this.#movedAt;
  }

  /** True once bytes of its answer may have been given on. */
  get hasBegun(): boolean {
    return this.#head?.isStream === true;
  }

  placed(number: number, send: Send): void {
    this.number = number;
    this.isNoted = false;
    this.#send = send;
    this.#head = null;
    this.#parts = [];
  }

  head(head: AnswerHead): void {
    this.#head = head;
    this.#movedAt = performance.now();
    if (head.isStream) this.#events.resolve({ ...headersOf(head), stream: this.#stream() });
  }

  data(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#movedAt = performance.now();
    this.#wake();
  }

  end(): void {
    this.isAnswered = true;
    if (!this.hasBegun) this.#events.resolve({ ...headersOf(this.#head), body: Buffer.concat(this.#parts) });
    this.#over();
  }

  /** The worker has answered with an error. */
  answeredWith(error: Error): void {
    this.isAnswered = true;
    this.fail(error);
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#failure = error;
    this.#events.reject(error);
    this.#over();
  }

  readonly #leave = (): void => {
    this.fail(clientClosed());
  };

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.job.signal.removeEventListener('abort', this.#leave);
    this.#wake();
    this.#events.onOver();
  }

  #more(bytes: number): void {
    const size = Buffer.allocUnsafe(4);
    size.writeUInt32BE(bytes, 0);
    this.#send(frameOf(MORE, this.number, size));
  }

  async *#stream(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const part = this.#parts.shift();
        if (part !== undefined) {
          this.#more(part.length);
          yield part;
          this.#movedAt = performance.now();
        } else if (this.#failure !== null) throw this.#failure;
        else if (this.#isOver) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      // its reader has left before its end
      this.fail(clientClosed());
    }
  }
}

const headersOf = (head: AnswerHead | null): Pick<EngineAnswer, 'headers'> =>
  head?.headers === undefined ? {} : { headers: head.headers };

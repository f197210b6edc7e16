import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { sizeOfRecord, type AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { reach } from '../../core/fault-points.ts';

export type WriteQueueOptions = {
  readonly write: (records: readonly AbsoluteRecord[]) => Promise<void>;
  readonly log: Logger;
  /** Before what failed is tried again, at first; it doubles up to 5 s. Milliseconds. */
  readonly retryMs?: number;
};

type Step = { readonly records: AbsoluteRecord[] } | { readonly run: () => Promise<void> };

const RETRY_MS = 250;
const MOST_RETRY_MS = 5000;

/** What is to be written of a partition, in its order: a snapshot only when all records before it are acknowledged. What fails is tried until the end. */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #steps: Step[] = [];
  readonly #end = new AbortController();
  #bytes = 0;
  #running: Promise<void> | null = null;
  #failing = false;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  /** Bytes of the records that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True while what was tried last failed. */
  get failing(): boolean {
    return this.#failing;
  }

  add(records: readonly AbsoluteRecord[]): void {
    if (records.length === 0 || this.#end.signal.aborted) return;
    const last = this.#steps.at(-1);
    // the first step may be under way
    if (last !== undefined && 'records' in last && this.#steps.length > 1) last.records.push(...records);
    else this.#steps.push({ records: [...records] });
    this.#bytes += records.reduce((sum, record) => sum + sizeOfRecord(record), 0);
    this.#go();
  }

  /** Runs when all that was added before is written. */
  then(run: () => Promise<void>): void {
    if (this.#end.signal.aborted) return;
    this.#steps.push({ run });
    this.#go();
  }

  /** Resolves when nothing waits any more, or it was ended. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Nothing is begun any more, and what waits is forgotten. */
  end(): void {
    this.#end.abort();
  }

  async #write(records: readonly AbsoluteRecord[]): Promise<void> {
    const held = reach('before-outputs', records);
    if (held !== undefined) await held;
    await this.#options.write(records);
    void reach('after-outputs');
  }

  #go(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    let wait = this.#options.retryMs ?? RETRY_MS;
    for (let step = this.#steps[0]; step !== undefined && !signal.aborted; step = this.#steps[0]) {
      try {
        if ('run' in step) await step.run();
        else await this.#write(step.records);
        this.#steps.shift();
        if ('records' in step) this.#bytes -= step.records.reduce((sum, record) => sum + sizeOfRecord(record), 0);
        this.#failing = false;
        wait = this.#options.retryMs ?? RETRY_MS;
      } catch (error) {
        this.#failing = true;
        this.#options.log.warn({ err: error, retryMs: wait }, 'Writing the output of processors failed; retrying.');
        await sleep(wait, undefined, { signal }).catch(() => undefined);
        wait = Math.min(2 * wait, MOST_RETRY_MS);
      }
    }
    if (signal.aborted) {
      this.#steps.length = 0;
      this.#bytes = 0;
    }
  }
}

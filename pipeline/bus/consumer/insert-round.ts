import type { Logger } from 'pino';
import type { Range, RangeStore } from './range.ts';

/**
 * What became of a range in its round. `alone`: it was not sent, and is to be stored by itself. `in doubt`: it may be stored, or be stored
 * later, until the round's insert is fenced.
 */
export type Outcome = 'stored' | 'alone' | 'in doubt';

/** The place of one partition in a round. */
export type Seat = {
  /** Names the round's insert; written with the intent of the range, before `store` is called. */
  readonly id: string;
  /** Has the range stored with those of the others, once each has come or left. */
  store(range: Range): Promise<Outcome>;
  /** The partition brings nothing to this round. Does no harm afterwards. */
  leave(): void;
};

/** A partition that takes so long to write its intent is not waited for. Milliseconds. */
const GATHER_MS = 1000;

export type InsertRoundOptions = {
  readonly id: string;
  /** How many seats are given out. */
  readonly seats: number;
  readonly store: Pick<RangeStore, 'joins' | 'storeJointly'>;
  readonly log: Logger;
  readonly gatherMs?: number;
};

/** The ranges of several partitions that are taken at the same time, and stored by one insert, sent once (docs/adr/0016-one-insert-for-several-partitions.md). */
export class InsertRound {
  readonly #options: InsertRoundOptions;
  readonly #arrived: { readonly range: Range; readonly settle: (outcome: Outcome) => void }[] = [];
  #awaited: number;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #end = Promise.withResolvers<void>();

  constructor(options: InsertRoundOptions) {
    this.#options = options;
    this.#awaited = options.seats;
  }

  /** Resolves when the insert is over, however it ended, or there is none. */
  get over(): Promise<void> {
    return this.#end.promise;
  }

  seat(): Seat {
    let isOpen = true;
    const use = (): boolean => {
      const wasOpen = isOpen;
      isOpen = false;
      return wasOpen;
    };
    return {
      id: this.#options.id,
      store: (range) => (use() ? this.#arrive(range) : Promise.resolve<Outcome>('alone')),
      leave: () => {
        if (use()) this.#decrease();
      },
    };
  }

  #arrive(range: Range): Promise<Outcome> {
    if (this.#isClosed) return Promise.resolve('alone');
    return new Promise((settle) => {
      this.#arrived.push({ range, settle });
      this.#timer ??= setTimeout(() => void this.#close(), this.#options.gatherMs ?? GATHER_MS);
      this.#decrease();
    });
  }

  #decrease(): void {
    this.#awaited -= 1;
    if (this.#awaited === 0) void this.#close();
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const outcome = await this.#insert();
    this.#end.resolve();
    for (const { settle } of this.#arrived) settle(outcome);
  }

  /** Never rejects. */
  async #insert(): Promise<Outcome> {
    const { id, store, log } = this.#options;
    const ranges = this.#arrived.map(({ range }) => range);
    if (ranges.length < 2) return 'alone';
    try {
      if (!(await store.joins())) return 'alone';
    } catch (error) {
      log.warn({ err: error }, 'It is unknown whether the table accepts several ranges in one insert; each is inserted on its own.');
      return 'alone';
    }
    try {
      await store.storeJointly(id, ranges);
      return 'stored';
    } catch (error) {
      log.warn({ err: error, insert: id, ranges: ranges.length }, 'An insert of several ranges failed; each is retried on its own.');
      return 'in doubt';
    }
  }
}

import type { Logger } from 'pino';
import { isOn, reach } from '../../core/fault-points.ts';
import { encodeMetadata, WINDOW, type Progress } from '../reading/commit-metadata.ts';
import type { DeadLetter } from '../records/dead-letter.ts';
import type { Seat } from './insert-round.ts';
import type { Range, RangeStore, Refusal, Stored } from './range.ts';
import { appendedAt, positionOf } from '../records/record.ts';

/** What the steps of a range need of the world. Every one may be repeated. */
export type RangeStepsOptions = {
  readonly topic: string;
  readonly partition: number;
  readonly log: Logger;
  readonly store: RangeStore;
  /** Resolves when the letters are on their topic. */
  readonly deadLetter: (deadLetters: readonly Omit<DeadLetter, 'version'>[]) => Promise<void>;
  /** Most dead letters among the last 10,000 offsets; with one more the partition is halted. */
  readonly deadLetterLimit: number;
  /** Called with why the partition is halted, and null when it goes on. */
  readonly onHalt: (why: string | null) => void;
  readonly commit: (offset: number, metadata: string) => Promise<void>;
  /** False once the partition may belong to another process. */
  readonly isActive: () => boolean;
  /** True when no more than what was begun is to be done. */
  readonly isFinishing: () => boolean;
};

/** By how much a broker's clock may be set back; one that is mistaken about the time zone or summer time is an hour off. Milliseconds. */
const CLOCK_SLACK_MS = 2 * 3_600_000;
const RETRY_MS = [250, 500, 1000, 2000, 5000, 10_000, 15_000];
/** How often a halted partition tries whether its records are accepted now. */
const HALT_MS = 15_000;
const WRITES_INTENT = isOn('intent');
const RECALLS = isOn('recall');

/**
 * Takes the ranges of a partition through their steps, one range after the other: dead letters, intent, store, commit
 * (docs/adr/0003-exactly-once-sink.md, docs/adr/0008-dead-letters.md, docs/adr/0016-one-insert-for-several-partitions.md). A record is among the dead letters before a commit says so.
 */
export class RangeSteps {
  readonly #options: RangeStepsOptions;
  /** Dead letters of the last offsets. */
  readonly #dead: Set<number>;
  /** Records up to this offset may be stored by ranges with other bounds. */
  #inDoubtTo: number;
  /** No record that was taken up was appended later, milliseconds. */
  #appendedBy: number | null;
  #halted = false;
  #wake: () => void = () => undefined;

  constructor(options: RangeStepsOptions, { dead, appendedBy, inDoubtTo }: Pick<Progress, 'dead' | 'appendedBy' | 'inDoubtTo'>) {
    this.#options = options;
    this.#dead = new Set(dead);
    this.#appendedBy = appendedBy;
    this.#inDoubtTo = inDoubtTo;
  }

  /**
   * Queries whether the table has more than the commits state, as when commits were lost with the power: that much is then looked up
   * record by record. False: the partition is no longer assigned to this process.
   *
   * What is looked for lies behind what is committed. A log gives its records append times in their order, but for a clock that is set
   * back, so none of it was appended earlier than the slack before the latest time of the commit; the rows of a replay, which are
   * older, are looked up with each range that has one. Without a commit that has a time, all of the partition's rows are looked at.
   */
  async recall({ from, intent, insert }: Pick<Progress, 'from' | 'intent' | 'insert'>): Promise<boolean> {
    const { store, partition, log } = this.#options;
    if (insert !== null && !(await this.#fence(insert))) return false;
    const since = this.#appendedBy === null ? null : this.#appendedBy - CLOCK_SLACK_MS;
    const highest = await this.#persist(() => store.highest(partition, from, since), 'ask what is stored');
    if (highest === null) return false;
    if (RECALLS && highest > (intent?.end ?? from - 1)) {
      log.warn({ partition, from, intent, highest }, 'More is stored than is committed; comparing record by record.');
      this.#inDoubtTo = Math.max(this.#inDoubtTo, highest);
    }
    return true;
  }

  /** Ends a wait early: something has changed. */
  wake(): void {
    this.#wake();
  }

  /**
   * True when the range is stored and committed. False: it is not, and nothing after it may be touched here, since a commit of what
   * comes later would skip it. `again`: its intent is written already. `seat`: where it may be stored with ranges of other partitions.
   */
  async take(taken: Range, again: boolean, seat: Seat | null = null): Promise<boolean> {
    const range = { ...taken, inDoubt: taken.start <= this.#inDoubtTo ? appendedAt(taken.records.at(-1)) : null };
    this.#appendedBy = range.records.reduce((latest, record) => Math.max(latest, appendedAt(record)), this.#appendedBy ?? 0);
    const faulty = range.records.flatMap((record) =>
      record.fault === null || this.#dead.has(record.offset) ? [] : [{ record, fault: record.fault }],
    );
    if (range.rows === 0 && range.inDoubt === null && !again && faulty.length === 0) {
      // ticks, mostly: what has no rows is consumed, and nothing of it could be stored twice
      seat?.leave();
      return this.#commit(range.end + 1, null, 'commit a range without rows');
    }
    const joint = faulty.length === 0 && range.inDoubt === null && range.records.every(({ replayOf }) => replayOf === null) ? seat : null;
    // the others do not wait for what takes its time
    if (joint === null) seat?.leave();
    while (this.#tooMany(range, faulty.length)) if (!(await this.#halt(range, faulty))) return false;
    if (!(await this.#deadLetterAll(faulty, 'decode'))) return false;
    if (WRITES_INTENT && (!again || faulty.length > 0) && !(await this.#writeIntent(range, joint?.id))) return false;
    void reach('after-intent');
    const stored = await this.#storeAll(range, again, joint);
    if (stored === 'too large') return this.#takeHalves(range);
    if (stored === null) return false;
    this.#resume();
    void reach('after-insert');
    const isCommitted = await this.#commit(range.end + 1, null, 'commit a range');
    void reach('after-commit');
    return isCommitted;
  }

  /** Takes the halves of a range as ranges of their own. What the whole has stored of them is not stored again: they are in doubt. */
  async #takeHalves({ start, end, records, ...shared }: Range): Promise<boolean> {
    const middle = start + Math.floor((end - start) / 2);
    const half = (first: number, last: number): Range => {
      const own = records.filter(({ offset }) => offset >= first && offset <= last);
      return { ...shared, start: first, end: last, records: own, rows: own.reduce((sum, { count }) => sum + count, 0) };
    };
    this.#inDoubtTo = Math.max(this.#inDoubtTo, end);
    return (await this.take(half(start, middle), false)) && this.take(half(middle + 1, end), false);
  }

  /** Stores what of the range is not a dead letter; what is refused becomes one. Null: the partition is no longer assigned. */
  async #storeAll(range: Range, again: boolean, seat: Seat | null): Promise<'stored' | 'too large' | null> {
    let repeated = again;
    if (seat !== null) {
      const outcome = await seat.store(range);
      if (outcome === 'in doubt' && !(await this.#fence(seat.id))) return null;
      if (!this.#options.isActive()) return null;
      if (outcome === 'stored') return 'stored';
      repeated = outcome === 'in doubt';
    }
    for (;;) {
      const records = range.records.filter(({ offset, fault }) => fault === null && !this.#dead.has(offset));
      const live = { ...range, records, rows: records.reduce((sum, { count }) => sum + count, 0) };
      const stored = await this.#persist<Stored>(() => {
        const before = repeated;
        repeated = true;
        return records.length === 0 ? Promise.resolve([]) : this.#options.store.store(live, before);
      }, 'store a range');
      if (stored === null || stored === 'too large') return stored;
      if (stored.length === 0) return 'stored';
      if (this.#tooMany(range, stored.length)) {
        if (!(await this.#halt(range, stored))) return null;
      } else if (!(await this.#deadLetterAll(stored, 'insert')) || !(await this.#writeIntent(range))) return null;
    }
  }

  /** Whether `more` dead letters of this range would exceed the limit. */
  #tooMany({ end }: Range, more: number): boolean {
    if (more === 0) return false;
    const recent = [...this.#dead].filter((offset) => offset > end - WINDOW).length;
    return recent + more > this.#options.deadLetterLimit;
  }

  /** Writes the letters; from then on the records count as done. */
  async #deadLetterAll(faulty: readonly Refusal[], stage: string): Promise<boolean> {
    if (faulty.length === 0) return true;
    const { topic, partition } = this.#options;
    const deadLetters = faulty.map(({ record, fault }) => ({
      ...fault,
      stage,
      topic,
      partition,
      offset: positionOf(record),
      original: { ...record.original, timestamp: String(record.timestamp) },
    }));
    if ((await this.#persist(() => this.#options.deadLetter(deadLetters), 'write dead letters')) === null) return false;
    for (const { record } of faulty) this.#dead.add(record.offset);
    return true;
  }

  /** False: the partition is no longer assigned. */
  async #fence(insert: string): Promise<boolean> {
    const { store, partition } = this.#options;
    return (await this.#persist(() => store.fence(insert, partition), 'fence an insert of several ranges')) !== null;
  }

  #writeIntent(range: Range, insert: string | null = null): Promise<boolean> {
    return this.#commit(range.start, range.end, 'write the intent of a range', insert);
  }

  async #commit(offset: number, intentEnd: number | null, what: string, insert: string | null = null): Promise<boolean> {
    const last = intentEnd ?? offset - 1;
    for (const at of this.#dead) if (at <= last - WINDOW) this.#dead.delete(at);
    const metadata = encodeMetadata(offset, intentEnd, this.#dead, { appendedBy: this.#appendedBy, inDoubtTo: this.#inDoubtTo, insert });
    return (await this.#persist(() => this.#options.commit(offset, metadata), what)) !== null;
  }

  /** Halts for a while. False: no more is to be done here. */
  async #halt({ start, end }: Range, faulty: readonly Refusal[]): Promise<boolean> {
    const { log, partition, deadLetterLimit, onHalt, isActive, isFinishing } = this.#options;
    if (!this.#halted) {
      const first = faulty[0];
      const why = `${String(faulty.length)} of the records ${String(start)} to ${String(end)} cannot be stored`;
      onHalt(why);
      log.error(
        { partition, start, end, unstorable: faulty.length, limit: deadLetterLimit, offset: first?.record.offset, ...first?.fault },
        'A partition is halted: more of its last 10,000 records than the limit would be dead letters. Nothing is skipped.',
      );
    }
    this.#halted = true;
    if (isActive() && !isFinishing()) await this.#pause(HALT_MS);
    return isActive() && !isFinishing();
  }

  #resume(): void {
    if (!this.#halted) return;
    this.#halted = false;
    this.#options.onHalt(null);
    this.#options.log.info({ partition: this.#options.partition }, 'A halted partition has resumed.');
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#wake = done;
    });
  }

  /** Repeats a step until it succeeds; gives what it gave. Null: the partition is no longer assigned. */
  async #persist<Value>(step: () => Promise<Value>, what: string): Promise<Value | null> {
    const { isActive, isFinishing, log, partition } = this.#options;
    for (let attempt = 0; isActive(); attempt++) {
      try {
        const value = await step();
        return isActive() ? value : null;
      } catch (error) {
        if (!isActive()) return null;
        const wait = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] as number;
        log.warn({ err: error, partition, attempt, retryInMs: wait }, `Failed to ${what}; retrying.`);
        if (attempt >= 2 && isFinishing()) return null;
        await this.#pause(wait);
      }
    }
    return null;
  }
}

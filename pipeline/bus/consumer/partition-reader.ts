import type { InsertPace, PaceLimits, Waiting } from './insert-pace.ts';
import type { Seat } from './insert-round.ts';
import { WINDOW, type Intent, type Progress } from '../reading/commit-metadata.ts';
import type { Holding } from './flow-control.ts';
import { RangeSteps, type RangeStepsOptions } from './range-steps.ts';
import type { Range } from './range.ts';
import { isTick } from '../records/record.ts';
import type { SignalRecord } from '../records/signal-record.ts';

export type PartitionReaderOptions = Omit<RangeStepsOptions, 'isActive' | 'isFinishing'> & {
  /** The last commit. */
  readonly progress: Progress;
  /** How large a range grows. */
  readonly limits: Pick<PaceLimits, 'rows' | 'bytes'>;
  /** Decides when the partitions of this process take up what they have gathered. */
  readonly pace: InsertPace;
  /** Resolves when the readers before it in this process have done their last steps: an insert of theirs may not be sent yet. */
  readonly after?: Promise<unknown>;
  /** False once the partition may belong to another process. */
  readonly isCurrent: () => boolean;
  /** Called when a range is begun, and when it is stored or given up: more may fit then. */
  readonly onCapacity: () => void;
};

/** Gathers the records of one partition into ranges and has them stored, one after the other. */
export class PartitionReader implements Waiting {
  readonly #options: PartitionReaderOptions;
  readonly #steps: RangeSteps;
  #intent: Intent | null;
  #records: SignalRecord[] = [];
  #rows = 0;
  #bytes = 0;
  /** What the gathered records take up. */
  #gathered = 0;
  #oldestAt = 0;
  /** What the range that is being stored takes up. */
  #storing = 0;
  #begunAt = 0;
  /** Its last offset. */
  #storingTo = -1;
  #storedAt = 0;
  /** Whether the log had more when it was read last. */
  #isBehind = true;
  /** The last offset seen. */
  #lastOffset = -1;
  #finishing = false;
  #abandoned = false;
  #wake: () => void = () => undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: PartitionReaderOptions) {
    this.#options = options;
    this.#intent = options.progress.intent;
    this.#lastOffset = options.progress.from - 1;
    const steps = { ...options, isActive: () => this.#active(), isFinishing: () => this.#finishing };
    this.#steps = new RangeSteps(steps, options.progress);
  }

  start(): void {
    this.#loop = this.#run().catch((error: unknown) => {
      if (this.#active())
        this.#options.log.error({ err: error, partition: this.#options.partition }, 'A partition is released until the next assignment.');
    });
  }

  add(record: SignalRecord): void {
    if (record.offset <= this.#lastOffset) return;
    if (this.#records.length === 0) this.#oldestAt = performance.now();
    this.#records.push(record);
    this.#rows += record.count;
    this.#bytes += bytesOf(record);
    this.#gathered += sizeOf(record);
    this.#lastOffset = record.offset;
    this.#options.pace.grew(this, record.count, bytesOf(record));
    this.#wake();
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get oldestAt(): number {
    return this.#oldestAt;
  }

  get isUrgent(): boolean {
    return this.#finishing || this.#records.length >= WINDOW;
  }

  /** The offset that comes next. */
  get next(): number {
    return this.#lastOffset + 1;
  }

  /** True while no more should be added. An intent's range is never cut short. */
  get full(): boolean {
    const { rows, bytes } = this.#options.limits;
    return this.#lastOffset >= (this.#intent?.end ?? -1) && (this.#rows >= rows || this.#bytes >= bytes || this.#records.length >= WINDOW);
  }

  /** What is read, and not stored yet. */
  get holding(): Omit<Holding, 'isHalted'> {
    return {
      gathered: this.#gathered,
      storing: this.#storing,
      isFull: this.full,
      isOwed: this.#lastOffset < (this.#intent?.end ?? -1),
      isBehind: this.#isBehind,
      begunAt: this.#begunAt,
      storedAt: this.#storedAt,
    };
  }

  /** Sets how many records the log had beyond those that were added. */
  lag(records: number): void {
    this.#isBehind = records > 0;
  }

  /** Stores what has been read so far, then ends. */
  async finish(): Promise<void> {
    this.#finishing = true;
    this.#options.pace.hurry();
    this.#wake();
    this.#steps.wake();
    await this.#loop;
  }

  /** Forgets what waits behind the range that is being stored: it is to be read again. */
  discard(): void {
    this.#records = [];
    [this.#rows, this.#bytes, this.#gathered] = [0, 0, 0];
    this.#lastOffset = this.#storingTo;
  }

  /** Ends without storing anything more; resolves when the step that was begun is over. */
  abandon(): Promise<void> {
    this.#abandoned = true;
    this.#records = [];
    this.#wake();
    [this.#rows, this.#bytes, this.#gathered] = [0, 0, 0];
    this.#options.pace.withdraw(this);
    this.#steps.wake();
    this.#options.onCapacity();
    return this.#loop;
  }

  #active(): boolean {
    return !this.#abandoned && this.#options.isCurrent();
  }

  async #run(): Promise<void> {
    await this.#options.after;
    if (!this.#active() || !(await this.#steps.recall(this.#options.progress))) return;
    if (this.#intent !== null && !(await this.#repeatIntent(this.#intent))) return;
    while (this.#active()) {
      if (this.#records.length > 0) {
        // ticks have nothing to store: they are no reason to store what others have gathered
        const seat = this.#records.every(isTick) ? null : await this.#options.pace.turn(this);
        if (!(await this.#storeNext(seat))) return;
      } else if (this.#finishing) return;
      else await this.#more();
    }
  }

  async #storeNext(seat: Seat | null): Promise<boolean> {
    try {
      if (!this.#active()) return false;
      return this.#records.length === 0 || (await this.#store(this.#take(this.#widest()), false, seat));
    } finally {
      seat?.leave();
    }
  }

  /** Resolves when a record comes, or something has changed. */
  #more(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  async #repeatIntent(intent: Intent): Promise<boolean> {
    while (this.#lastOffset < intent.end && this.#active() && !this.#finishing) await this.#more();
    if (!this.#active() || this.#lastOffset < intent.end) return false;
    const cut = this.#records.findIndex(({ offset }) => offset > intent.end);
    const range = this.#take(cut < 0 ? this.#records.length : cut);
    // the boundaries are those of the intent, not of what is still in the log
    if (!(await this.#store({ ...range, start: intent.start, end: intent.end }, true))) return false;
    this.#intent = null;
    return true;
  }

  async #store(range: Range, again: boolean, seat: Seat | null = null): Promise<boolean> {
    [this.#begunAt, this.#storingTo] = [performance.now(), range.end];
    this.#storing = range.records.reduce((sum, record) => sum + sizeOf(record), 0);
    this.#options.onCapacity();
    try {
      const isStored = await this.#steps.take(range, again, seat);
      if (isStored) this.#storedAt = performance.now();
      return isStored;
    } finally {
      this.#storing = 0;
      this.#options.onCapacity();
    }
  }

  /** How many of the gathered records one range may have. */
  #widest(): number {
    const first = this.#records[0]?.offset ?? 0;
    const cut = this.#records.findIndex(({ offset }) => offset >= first + WINDOW);
    return cut < 0 ? this.#records.length : cut;
  }

  #take(count: number): Range {
    const records = this.#records.splice(0, count);
    const rows = records.reduce((sum, record) => sum + record.count, 0);
    this.#rows -= rows;
    this.#bytes -= records.reduce((sum, record) => sum + bytesOf(record), 0);
    this.#gathered -= records.reduce((sum, record) => sum + sizeOf(record), 0);
    if (this.#records.length > 0) this.#oldestAt = performance.now();
    const { topic, partition } = this.#options;
    return { topic, partition, start: records[0]?.offset ?? 0, end: records.at(-1)?.offset ?? 0, rows, records };
  }
}

/** The value of a record, also where it cannot be read. */
const bytesOf = ({ original }: SignalRecord): number => original.value?.length ?? 0;

/**
 * What a record takes on the heap in addition to its value: its headers twice, as kafkajs gives them and decoded, where they are small;
 * and for each byte of large ones what is decoded of it.
 */
const [RECORD_BYTES, DECODED] = [4000, 4];

/** What a record takes up in memory. */
function sizeOf(record: SignalRecord): number {
  let headers = 0;
  for (const value of Object.values(record.original.headers ?? {})) headers += value?.length ?? 0;
  return bytesOf(record) + RECORD_BYTES + headers * DECODED;
}

import type { Logger } from 'pino';
import { MAX_STATE_BYTES } from '../../bus/state/state-log.ts';
import type { Fold, Input } from '../base/processor.ts';
import type { Position } from '../base/position.ts';
import { isOn, periodMs, reach } from '../../core/fault-points.ts';
import type { Setting } from '../../core/setting.ts';
import { SnapshotBudget } from './snapshot-budget.ts';
import { slicesOf } from '../base/slices.ts';
import type { WriteQueue } from './write-queue.ts';

/** A snapshot, as it was saved: the state before the record `next`. */
export type Snapshot = { readonly next: number; readonly bytes: Buffer };

/** Where the snapshots of one processor are kept. */
export interface States {
  load(
    partitions: readonly number[],
    options: { readonly signal: AbortSignal; readonly onProgress?: (records: number) => void },
  ): Promise<ReadonlyMap<number, Snapshot>>;
  save(partition: number, next: number, bytes: Buffer): Promise<void>;
}

/** A processor, and where its states are. */
export type Hosted<In extends Position = Input> = { readonly processor: Fold<unknown, In>; readonly states: States };

/** What a processor is doing in a partition, for those who watch it. */
export type ProcessorStatus = {
  readonly processor: string;
  readonly partition: number;
  /** The offset that it takes next, and that of the last snapshot. */
  readonly next: number;
  readonly saved: number;
  /** Of the last snapshot, bytes; and by `performance.now()`. */
  readonly stateBytes: number;
  readonly savedAt: number;
  /** Why it is halted; null while it is not. */
  readonly halted: string | null;
};

export type HostedPartitionOptions<In extends Position = Input> = {
  readonly partition: number;
  readonly hosted: readonly Hosted<In>[];
  /** The last snapshots, by the names of the processors. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  readonly writes: WriteQueue;
  /** Shared by all partitions of the process. Default: a budget of its own. */
  readonly budget?: SnapshotBudget;
  readonly log: Logger;
  readonly now: () => number;
  /** Called with how long a processor was at work on an input. Milliseconds. */
  readonly onFold?: (processor: string, ms: number, input: In) => void;
};

/** A snapshot is due after this number of records, or this time. Milliseconds. */
const SNAPSHOT_RECORDS = 50_000;
const SNAPSHOT_MS = periodMs('snapshot', 30_000);
/** Of a large state it is due later, so that snapshots write at most this number of bytes a millisecond: 32 MB take two minutes more. */
const SNAPSHOT_BYTES = 256;
/** `news` is not called while this number of bytes waits to be written. */
const MOST_WAITING = 1024 * 1024;

const SAVES_IN_ORDER = isOn('state-order');
const TAKES_ONCE = isOn('state-once');

/** Of a snapshot in slices, before the event loop turns again. Milliseconds. */
const SLICE_MS = 10;

/** A processor in one partition. */
type Member<In extends Position> = Hosted<In> & {
  state: unknown;
  next: number;
  saved: number;
  savedAt: number;
  stateBytes: number;
  isSaving: boolean;
  records: number;
  halted: string | null;
};

/**
 * The processors of a partition, from their snapshots on. What they find is written in its order, and a snapshot is taken of what is
 * written. One that throws is halted alone: it takes no more, and its state is not saved; fixed, it goes on from its last snapshot.
 */
export class HostedPartition<In extends Position = Input> {
  readonly partition: number;
  readonly #options: HostedPartitionOptions<In>;
  readonly #members: Member<In>[];
  /** When the last record was appended, milliseconds: long ago, where none was seen but a snapshot; -1 where there was none at all. */
  appendedAt: number;
  /** The offset behind the last record that was read. */
  #read = 0;
  readonly #budget: SnapshotBudget;
  /** Snapshots that are being taken in slices. */
  #slicing = 0;
  #isAbandoned = false;
  /** Releases the budget of the snapshots that are being saved. */
  readonly #held = new Set<() => void>();

  constructor(options: HostedPartitionOptions<In>) {
    this.#options = options;
    this.partition = options.partition;
    this.#budget = options.budget ?? new SnapshotBudget();
    this.#members = options.hosted.map((hosted) => this.#begun(hosted, options.snapshots.get(hosted.processor.name)));
    this.appendedAt = this.#members.some(({ next }) => next > 0) ? 0 : -1;
  }

  /** The offset that is to be read next: the first one that some processor has not taken. */
  get next(): number {
    const open = this.#members.filter(({ halted }) => halted === null);
    return open.length === 0 ? this.#read : Math.min(...open.map(({ next }) => next));
  }

  /** Bytes that wait to be written. */
  get waiting(): number {
    return this.#options.writes.bytes;
  }

  /** True while no input may come: a snapshot is taken in slices, or some processor has so much left to do that no more is to be read. */
  get isBehind(): boolean {
    return (
      this.#slicing > 0 || this.#members.some(({ processor, state, halted }) => halted === null && processor.isBehind?.(state) === true)
    );
  }

  get status(): ProcessorStatus[] {
    const { partition } = this;
    return this.#members.map(({ processor, next, saved, stateBytes, savedAt, halted }) => ({
      ...{ processor: processor.name, partition, next, saved, stateBytes, savedAt, halted },
    }));
  }

  /** Gives an input to every processor that has not taken it yet. */
  take(input: In): void {
    const { now, onFold, writes } = this.#options;
    for (const member of this.#members) {
      if (member.halted !== null || (TAKES_ONCE && input.offset < member.next)) continue;
      const began = now();
      try {
        writes.add(member.processor.fold(member.state, input));
        member.next = input.offset + 1;
        member.records += 1;
      } catch (error) {
        this.#halt(member, input.offset, error);
      }
      onFold?.(member.processor.name, now() - began, input);
    }
    this.#read = Math.max(this.#read, input.offset + 1);
    this.appendedAt = input.appendedAt;
  }

  /** The log has no more records before this offset: those that were there have expired, or it has lost its end. */
  skipTo(offset: number): void {
    for (const member of this.#members) if (member.halted === null) member.next = offset;
    this.#read = offset;
  }

  /** Those of these settings that are news to some processor. */
  lacking(settings: readonly Setting[]): readonly Setting[] {
    const open = this.#members.filter(({ halted }) => halted === null);
    return open.flatMap(({ processor, state }) => processor.lacks?.(state, settings) ?? []);
  }

  /** Has what is new written, and snapshots that are due. */
  look(): void {
    const { now, writes } = this.#options;
    if (writes.bytes < MOST_WAITING)
      for (const member of this.#members) {
        const { processor, state, next, halted } = member;
        if (halted !== null || processor.news === undefined) continue;
        try {
          writes.add(processor.news(state, this.partition, next));
        } catch (error) {
          this.#halt(member, next, error);
        }
      }
    for (const member of this.#members) {
      const dueMs = SNAPSHOT_MS + Math.floor(member.stateBytes / SNAPSHOT_BYTES);
      const isDue = member.records >= SNAPSHOT_RECORDS || now() - member.savedAt >= dueMs;
      if (isDue) this.#save(member);
    }
  }

  /** Saves what has changed, whenever it was saved last; resolves when all is written, or the queue was ended. */
  async finish(): Promise<void> {
    const written = async (): Promise<void> => {
      while (this.#slicing > 0) await new Promise((resolve) => setImmediate(resolve));
      await this.#options.writes.idle();
    };
    await written();
    for (const member of this.#members) {
      this.#save(member, () => () => undefined);
      await written();
    }
  }

  /** The queue was ended: nothing is saved any more. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const give of this.#held) give();
    this.#held.clear();
  }

  #begun(hosted: Hosted<In>, snapshot: Snapshot | undefined): Member<In> {
    const { log, now } = this.#options;
    const { processor } = hosted;
    const state = snapshot === undefined ? null : this.#restored(hosted, snapshot.bytes);
    if (snapshot !== undefined && state === null)
      log.error(
        { processor: processor.name, partition: this.partition },
        'A snapshot cannot be read; the partition is folded from its beginning.',
      );
    const next = snapshot === undefined || state === null ? 0 : snapshot.next;
    const member: Member<In> = {
      ...hosted,
      ...{ state, next, saved: next, savedAt: now(), stateBytes: snapshot?.bytes.length ?? 0 },
      ...{ isSaving: false, records: 0, halted: null },
    };
    try {
      member.state ??= processor.init();
    } catch (error) {
      this.#halt(member, next, error);
    }
    return member;
  }

  /** Null too where the processor throws at the snapshot. */
  #restored({ processor }: Hosted<In>, bytes: Buffer): unknown {
    try {
      return processor.restore(bytes);
    } catch (error) {
      this.#options.log.error(
        { err: error, processor: processor.name, partition: this.partition },
        'A processor threw while its snapshot was taken.',
      );
      return null;
    }
  }

  #halt(member: Member<In>, offset: number, error: unknown): void {
    member.halted = `offset ${String(offset)}: ${error instanceof Error ? error.message : String(error)}`;
    const { partition } = this;
    this.#options.log.error({ err: error, processor: member.processor.name, partition, offset }, 'A processor threw and is halted.');
  }

  /** Where it does not fit, it is tried at the next look. */
  #save(member: Member<In>, take: (bytes: number) => (() => void) | null = (bytes) => this.#budget.take(bytes)): void {
    const { states, next } = member;
    if (member.halted !== null || member.isSaving || next === member.saved) return;
    const give = take(member.stateBytes);
    if (give === null) return;
    const { now, writes } = this.#options;
    this.#held.add(give);
    member.isSaving = true;
    member.records = 0;
    this.#slice(member, slicesOf(member.processor, member.state), (bytes) => {
      if (bytes === null) {
        member.isSaving = false;
        give();
        this.#held.delete(give);
        return;
      }
      const save = async (): Promise<void> => {
        await states.save(this.partition, next, bytes);
        void reach('after-snapshot');
        Object.assign(member, { saved: next, savedAt: now(), stateBytes: bytes.length, isSaving: false });
        give();
        this.#held.delete(give);
      };
      if (SAVES_IN_ORDER) writes.then(save);
      else void save();
    });
  }

  /**
   * Takes a snapshot, in several turns of the event loop where it takes long. `done` gets null where the processor throws, or has too large a state,
   * which halts it, and where the partition is abandoned.
   */
  #slice(member: Member<In>, slices: Generator<undefined, Buffer>, done: (bytes: Buffer | null) => void): void {
    const { now } = this.#options;
    const step = (): void => {
      this.#slicing -= 1;
      const began = now();
      try {
        for (;;) {
          const { done: isWhole, value } = this.#isAbandoned ? { done: true, value: null } : slices.next();
          if (isWhole === true) {
            done(checked(value));
            return;
          }
          if (now() - began >= SLICE_MS) break;
        }
        this.#slicing += 1;
        setImmediate(step);
      } catch (error) {
        this.#halt(member, member.next, error);
        done(null);
      }
    };
    this.#slicing += 1;
    step();
  }
}

/** Throws where a snapshot is larger than what can be kept. */
function checked(bytes: Buffer | null): Buffer | null {
  if (bytes !== null && bytes.length > MAX_STATE_BYTES)
    throw new Error(`its state has ${String(bytes.length)} bytes; at most ${String(MAX_STATE_BYTES)} are kept`);
  return bytes;
}

import { idOf } from '../book/alert.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { Rates } from '../../processors/rates/rates.ts';

const MINUTE_MS = 60_000;
/** A minute is final so long after its end, by append time: what comes later has no part in it. Minutes. */
const OPEN = 3;
/** What is found in minutes that were final so long before they came is of the past, and no alert. Minutes. */
const CAUGHT_UP = 30;
/** Of a stream whose newest entry is older, minutes end with it: it gets its past, or has ended. Minutes. */
const LIVE = 90;
/** The most minutes that are taken of what comes at once. */
const MOST_MINUTES = 1440;
/** A stream that had no entry for this long is forgotten, by append time. Milliseconds. */
const FORGET_MS = 24 * 3_600_000;
const MAX_STREAMS = 20_000;

/** A minute of a stream that is final, or a window of a rule's group, by its first minute. */
export type FinalMinute = {
  readonly id: string;
  readonly minute: number;
  readonly entries: number;
  readonly errors: number;
  /** What is watched, null for none; the entries, where it is absent. */
  readonly value?: number | null;
  /** It is of the past: it counts for what is usual, and nothing that is found in it is an alert. */
  readonly isLate: boolean;
};

/** A stream, and its minutes that are not final. */
type Stream = {
  /** A number for its label set, which may be long; 0 until it is known. */
  label: number;
  /** The partition of the log that its last counts came from, and when those were appended, milliseconds. */
  source: number;
  seenAt: number;
  /** The last minute that was given, and the newest one that has entries. */
  given: number;
  newest: number;
  readonly open: Map<number, { entries: number; errors: number }>;
};

/** The streams of a tenant, minute by minute: each minute once, when it is final, in order, also those without entries. */
export class FinalMinutes {
  readonly #streams = new Map<string, Stream>();
  /** Up to when each partition of the log is counted: append times, milliseconds. */
  readonly #through = new Map<number, number>();
  /** Whether some minute may be final that was not given. */
  #isDue = false;

  get size(): number {
    return this.#streams.size;
  }

  has(id: string): boolean {
    return this.#streams.has(id);
  }

  /** The streams of a label set. */
  idsOf(label: string): string[] {
    const number = labelOf(label);
    return [...this.#streams].filter(([, stream]) => stream.label === number).map(([id]) => id);
  }

  /** Adds what a partition has counted, as long as the tenant has no more than `most` streams. */
  add({ ids, streams, ends, minutes, entries, errors }: Rates, source: number, appendedAt: number, most: number): void {
    const before = this.#through.get(source) ?? 0;
    const through = Math.max(before, appendedAt);
    this.#through.set(source, through);
    if (Math.floor(before / MINUTE_MS) !== Math.floor(through / MINUTE_MS)) this.#isDue = true;
    const present = Math.floor(appendedAt / MINUTE_MS);
    let row = 0;
    ids.forEach((id, index) => {
      const end = ends[index] as number;
      const stream = row < end ? this.#streamOf(id, Math.min(present, minutes[row] as number), most) : this.#streams.get(id);
      if (stream !== undefined) {
        const label = streams[index] ?? null;
        if (label !== null) stream.label = labelOf(label);
        stream.source = source;
        stream.seenAt = Math.max(stream.seenAt, appendedAt);
        for (let at = row; at < end; at++)
          count(stream, Math.min(present, minutes[at] as number), entries[at] as number, errors[at] as number);
      }
      row = end;
    });
  }

  /** Gives minutes that are final, at most about `most` of them; and the streams that are forgotten. `isWhole`: no other is final. */
  take(most: number): { readonly minutes: readonly FinalMinute[]; readonly removed: readonly string[]; readonly isWhole: boolean } {
    const minutes: FinalMinute[] = [];
    const removed: string[] = [];
    if (!this.#isDue) return { minutes, removed, isWhole: true };
    for (const [id, stream] of this.#streams) {
      const through = this.#through.get(stream.source) ?? 0;
      if (stream.seenAt < through - FORGET_MS) {
        this.#streams.delete(id);
        removed.push(id);
        continue;
      }
      const present = Math.floor(through / MINUTE_MS);
      const watermark = present - OPEN - 1;
      // the rest of a minute of the past may come with what follows
      const final = stream.newest < present - LIVE ? Math.min(watermark, stream.newest - 2) : watermark;
      while (stream.given < final && minutes.length < most) minutes.push(next(id, stream, watermark - CAUGHT_UP));
      if (minutes.length >= most) return { minutes, removed, isWhole: false };
    }
    this.#isDue = false;
    return { minutes, removed, isWhole: true };
  }

  write(to: ByteWriter): void {
    to.count(this.#through.size);
    for (const [source, through] of this.#through) for (const number of [source, through]) to.count(number);
    to.count(this.#streams.size);
    for (const [id, { label, source, seenAt, given, newest, open }] of this.#streams) {
      to.text(id);
      for (const number of [label, source, seenAt, given, newest, open.size]) to.count(number);
      for (const [minute, { entries, errors }] of open) for (const number of [minute, entries, errors]) to.count(number);
    }
  }

  /** What `write` wrote, or a release that wrote label sets; throws CutOff where it is anything else. */
  static read(from: ByteReader, hasNumbers = true): FinalMinutes {
    const read = new FinalMinutes();
    for (let left = from.count(65_535); left > 0; left--) read.#through.set(from.count(65_535), from.count());
    for (let left = from.count(MAX_STREAMS); left > 0; left--) {
      const id = from.text();
      const label = hasNumbers ? from.count() : labelOf(Buffer.from(from.text(), 'latin1').toString());
      const [source, seenAt, given, newest] = [from.count(65_535), from.count(), from.count(), from.count()];
      const stream: Stream = { label, source, seenAt, given, newest, open: new Map() };
      for (let minutes = from.count(MOST_OPEN); minutes > 0; minutes--)
        stream.open.set(from.count(), { entries: from.count(), errors: from.count() });
      read.#streams.set(id, stream);
    }
    read.#isDue = true;
    return read;
  }

  #streamOf(id: string, first: number, most: number): Stream | undefined {
    const known = this.#streams.get(id);
    if (known !== undefined || this.#streams.size >= most) return known;
    const stream: Stream = { label: 0, source: 0, seenAt: 0, given: first - 1, newest: first, open: new Map() };
    this.#streams.set(id, stream);
    return stream;
  }
}

const labelOf = (label: string): number => (label === '' ? 0 : idOf(label));

/** More minutes than are ever open: those of fifteen days. */
const MOST_OPEN = 30_000;

function count(stream: Stream, minute: number, entries: number, errors: number): void {
  if (minute <= stream.given) return;
  stream.newest = Math.max(stream.newest, minute);
  const counts = stream.open.get(minute);
  if (counts === undefined) stream.open.set(minute, { entries, errors });
  else Object.assign(counts, { entries: counts.entries + entries, errors: counts.errors + errors });
}

/** The next minute of a stream. */
function next(id: string, stream: Stream, live: number): FinalMinute {
  const oldest = stream.newest - MOST_MINUTES;
  if (stream.given + 1 < oldest) {
    stream.given = oldest - 1;
    for (const minute of stream.open.keys()) if (minute < oldest) stream.open.delete(minute);
  }
  const minute = (stream.given += 1);
  const { entries, errors } = stream.open.get(minute) ?? { entries: 0, errors: 0 };
  stream.open.delete(minute);
  return { id, minute, entries, errors, isLate: minute < live };
}

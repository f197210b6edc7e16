import type { Severity } from '../../core/severity.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { MinuteCounts } from './minute-counts.ts';
import { encodeRates } from './rates-partial.ts';

/** Streams of a tenant that are counted singly in a partition; all others are one, `{}`. */
export const MAX_STREAMS = 10_000;
/** Bytes of a label set that is told; a longer one is one of the others. */
const MAX_STREAM_BYTES = 4096;
/** What a partial may have before it is told at once. Bytes, about. */
const MOST_WAITING = 128 * 1024;
const MINUTE_BYTES = 16;
const STREAM_BYTES = 24;
/** The others, whose id no stream has. */
const OTHERS = '';
const OTHERS_STREAM = '{}';

/** What is known of a stream in a partition. */
type Known = {
  /** Null for one that is counted with the others. */
  readonly stream: string | null;
  /** The hours (since 1970, by append time) in which its label set was told last, and in which it had an entry last. */
  toldHour: number;
  seenHour: number;
  counts: MinuteCounts;
};

/** What a partition has counted of a tenant since it told last. */
export class TenantRates {
  retentionDays: number;
  /** When entries came last, and when it was told last, by append time, milliseconds. */
  seenAt = 0;
  toldAt = 0;
  readonly #streams = new Map<string, Known>();
  /** Those that have counts, in the order in which they came. */
  readonly #changed = new Set<string>();
  #waiting = 0;

  constructor(retentionDays: number) {
    this.retentionDays = retentionDays;
  }

  /** True once so much was counted that it must be told. */
  get isFull(): boolean {
    return this.#waiting >= MOST_WAITING;
  }

  get hasNews(): boolean {
    return this.#changed.size > 0;
  }

  /** Streams that are known. */
  get size(): number {
    return this.#streams.size;
  }

  has(id: string): boolean {
    return this.#streams.has(id);
  }

  /** Takes a stream that was not there, as one of the others where the tenant has `most` already. */
  learn(id: string, stream: string, hour: number, most: number): void {
    const isOther = this.#streams.size >= most || Buffer.byteLength(stream) > MAX_STREAM_BYTES;
    if (this.#streams.size < 2 * most) this.#streams.set(id, knownOf(isOther ? null : stream, hour));
  }

  /** Counts entries of a stream; of one that was not learned they are the others'. */
  add(id: string, minute: number, severity: Severity, entries: number, hour: number): void {
    const own = this.#streams.get(id);
    if (own !== undefined) own.seenHour = hour;
    const isOther = own === undefined || own.stream === null;
    const counted = isOther ? OTHERS : id;
    let known = isOther ? this.#streams.get(OTHERS) : own;
    if (known === undefined) this.#streams.set(OTHERS, (known = knownOf(OTHERS_STREAM, hour)));
    known.seenHour = hour;
    if (!this.#changed.has(counted)) {
      this.#changed.add(counted);
      this.#waiting += STREAM_BYTES + (known.toldHour === hour ? 0 : (known.stream ?? '').length * 3);
    }
    if (known.counts.add(minute, severity, entries)) this.#waiting += MINUTE_BYTES;
  }

  /** All that was counted, as the value of a partial; from then on nothing is counted. */
  tell(appendedAt: number, hour: number): Buffer {
    const streams = [...this.#changed].map((id) => {
      const known = this.#streams.get(id) as Known;
      const stream = known.toldHour === hour ? null : known.stream;
      known.toldHour = hour;
      return { id, stream, counts: known.counts };
    });
    const value = encodeRates(streams);
    for (const { counts } of streams) counts.clear();
    this.#changed.clear();
    this.#waiting = 0;
    this.toldAt = appendedAt;
    return value;
  }

  /** Forgets the streams that had no entry in this hour and the one before; their label sets are told again when they come back. */
  forget(hour: number): void {
    for (const [id, { seenHour }] of this.#streams) if (seenHour < hour - 1 && !this.#changed.has(id)) this.#streams.delete(id);
  }

  write(to: ByteWriter): void {
    for (const number of [this.retentionDays, this.seenAt, this.toldAt, this.#streams.size]) to.count(number);
    for (const [id, { stream, toldHour, seenHour }] of this.#streams) {
      to.text(id);
      to.text(stream === null ? '' : Buffer.from(stream).toString('latin1'));
      to.signed(toldHour);
      to.signed(seenHour);
    }
    to.count(this.#changed.size);
    for (const id of this.#changed) {
      to.text(id);
      (this.#streams.get(id) as Known).counts.write(to);
    }
    to.count(this.#waiting);
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): TenantRates {
    const read = new TenantRates(from.count(65_535));
    read.seenAt = from.count();
    read.toldAt = from.count();
    for (let left = from.count(2 * MAX_STREAMS + 1); left > 0; left--) {
      const [id, text] = [from.text(), from.text()];
      const known = knownOf(text === '' ? null : Buffer.from(text, 'latin1').toString(), NEVER);
      known.toldHour = from.signed();
      known.seenHour = from.signed();
      read.#streams.set(id, known);
    }
    for (let left = from.count(read.#streams.size); left > 0; left--) {
      const id = from.text();
      const known = read.#streams.get(id);
      const counts = MinuteCounts.read(from, MOST_WAITING);
      if (known === undefined) continue;
      known.counts = counts;
      read.#changed.add(id);
    }
    read.#waiting = from.count();
    return read;
  }
}

const NEVER = -1;

const knownOf = (stream: string | null, hour: number): Known => ({ stream, toldHour: NEVER, seenHour: hour, counts: new MinuteCounts() });

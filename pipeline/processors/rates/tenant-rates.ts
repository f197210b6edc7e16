import { SEVERITIES, type Severity } from '../../core/severity.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { GroupTable } from '../base/group-table.ts';
import { KnownStreams } from './known-streams.ts';
import { encodeRates, type StreamCounts } from './rates-partial.ts';

/** Streams of a tenant that are counted singly in a partition; all others are one, `{}`. */
export const MAX_STREAMS = 10_000;
/** Groups of stream, minute and severity that are counted before they are reported at once. */
const MOST_COUNTED = 50_000;
/** What a partial may have, and what a stream and a minute take in it, in addition to the label set: bytes, about. */
const MOST_BYTES = 128 * 1024;
const STREAM_BYTES = 16;
const MINUTE_BYTES = 24;
/** The others, whose id no stream has, and their label set. */
const OTHERS = '';
const OTHERS_STREAM = '{}';
/** More groups than are ever counted before they are reported. */
const MOST_GROUPS = 1_000_000;
const KINDS = SEVERITIES.length;

/** What a partition has counted of a tenant since its last report. */
export class TenantRates {
  retentionDays: number;
  /** When entries came last, and when it was reported last, by append time, milliseconds. */
  seenAt = 0;
  publishedAt = 0;
  readonly known: KnownStreams;
  /** The entries by stream, minute and severity (as level). */
  readonly #counts = new GroupTable();
  /** The hour in which the label set of the others was reported last. */
  #othersHour = -1;

  constructor(retentionDays: number, known = new KnownStreams()) {
    this.retentionDays = retentionDays;
    this.known = known;
  }

  /** True once it has counted so much that it must report. */
  get isFull(): boolean {
    return this.#counts.size >= MOST_COUNTED;
  }

  get hasNews(): boolean {
    return this.#counts.size > 0;
  }

  /** Counts entries of a stream; true where it had none in this minute and severity. */
  add(high: number, low: number, minute: number, severity: Severity, entries: number): boolean {
    const counts = this.#counts;
    const before = counts.size;
    counts.add(counts.at(0, 0, high, low, minute, severity), entries, 0);
    return counts.size > before;
  }

  /** All that was counted, as values of partials, one at least; from then on nothing is counted. */
  publish(appendedAt: number, hour: number): Buffer[] {
    const values = cut(this.#byStream(hour)).map(encodeRates);
    this.#counts.clear();
    this.publishedAt = appendedAt;
    return values;
  }

  write(to: ByteWriter): void {
    const counts = this.#counts;
    for (const number of [this.retentionDays, this.seenAt, this.publishedAt]) to.count(number);
    to.signed(this.#othersHour);
    this.known.write(to);
    to.count(counts.size);
    for (let group = 0; group < counts.size; group++) {
      to.word(counts.high(group));
      to.word(counts.low(group));
      to.signed(counts.time(group));
      to.count(counts.level(group));
      to.count(counts.entries(group));
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): TenantRates {
    const [retentionDays, seenAt, publishedAt] = [from.count(65_535), from.count(), from.count()];
    const othersHour = from.signed();
    const read = new TenantRates(retentionDays, KnownStreams.read(from));
    for (let left = from.count(MOST_GROUPS); left > 0; left--)
      read.add(from.word(), from.word(), from.signed(), from.count(KINDS - 1) as Severity, from.count());
    [read.seenAt, read.publishedAt, read.#othersHour] = [seenAt, publishedAt, othersHour];
    return read;
  }

  /** What was counted, in the order in which streams came; the others behind them. */
  #byStream(hour: number): StreamCounts[] {
    const counts = this.#counts;
    const byPlace = new Map<number, Map<number, number[]>>();
    for (let group = 0; group < counts.size; group++) {
      const known = this.known.place(counts.high(group), counts.low(group));
      if (known >= 0) this.known.see(known, hour);
      const place = known >= 0 && this.known.text(known) !== null ? known : -1;
      let minutes = byPlace.get(place);
      if (minutes === undefined) byPlace.set(place, (minutes = new Map<number, number[]>()));
      let bySeverity = minutes.get(counts.time(group));
      if (bySeverity === undefined) minutes.set(counts.time(group), (bySeverity = new Array<number>(KINDS).fill(0)));
      bySeverity[counts.level(group)] = (bySeverity[counts.level(group)] ?? 0) + counts.entries(group);
    }
    return [...byPlace].map(([place, minutes]) => ({
      ...(place < 0 ? this.#others(hour) : { id: this.known.id(place), stream: this.known.report(place, hour) }),
      minutes: [...minutes].sort(([a], [b]) => a - b).map(([minute, bySeverity]) => ({ minute, bySeverity })),
    }));
  }

  #others(hour: number): Pick<StreamCounts, 'id' | 'stream'> {
    const stream = this.#othersHour === hour ? null : OTHERS_STREAM;
    this.#othersHour = hour;
    return { id: OTHERS, stream };
  }
}

/** As many streams together as a partial may have; none are a partial too, which states that nothing came. */
function cut(streams: readonly StreamCounts[]): StreamCounts[][] {
  const parts: StreamCounts[][] = [[]];
  let budget = MOST_BYTES;
  for (const one of streams) {
    const size = STREAM_BYTES + Buffer.byteLength(one.stream ?? '') + one.minutes.length * MINUTE_BYTES;
    if (size > budget && parts.at(-1)?.length !== 0) {
      parts.push([]);
      budget = MOST_BYTES;
    }
    parts.at(-1)?.push(one);
    budget -= size;
  }
  return parts;
}

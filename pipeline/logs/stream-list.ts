import { framesOf } from './columns/frames.ts';
import { nativeString, varint } from './columns/layout.ts';
import { StringColumn } from './columns/string-column.ts';
import { IdPlaces } from './id-places.ts';
import type { Stream } from './streams.ts';

/**
 * The columns of a record's streams, as they stand in its header: a block of ClickHouse's Native format, one row for each stream, with
 * the days since 1970-01-01 of which the record has entries of it. docs/topics.md is the specification.
 */
export const STREAM_COLUMNS = [
  ['stream_id', 'UInt64'],
  ['_stream', 'String'],
  ['days', 'Array(Int32)'],
] as const;

/** What stands before the data of each column. */
export const STREAM_HEADS: readonly Buffer[] = STREAM_COLUMNS.map(([name, type]) =>
  Buffer.concat([nativeString(name), nativeString(type)]),
);
const [ID_HEAD, TEXT_HEAD, DAYS_HEAD] = STREAM_HEADS as [Buffer, Buffer, Buffer];

/** A record has fewer streams than this (`MAX_ROWS`), so a mark tells the list and the place in it. */
const PLACES = 65_536;

/** What a stream takes in the header beside its text: the length of that, its id, where its days end, and a day; and each other day. */
const [STREAM_BYTES, DAY_BYTES] = [24, 4];
const FIRST_TEXT_BYTES = 128;

let running = 0;

/** The streams of the entries of a record, each with its days. */
export class StreamList {
  /** The mark of the first stream: tells this list from all others. A stream mostly knows its place by its mark, without a look-up. */
  readonly #first = ++running * PLACES;
  readonly #ids = new IdPlaces();
  readonly #texts = new StringColumn(FIRST_TEXT_BYTES);
  /** For each stream the day of its first entry, and that of its last one. */
  readonly #firstDays: number[] = [];
  readonly #lastDays: number[] = [];
  /** The days of streams that have several, in the order of their entries, without the first one. */
  readonly #moreDays = new Map<number, Set<number>>();
  #dayCount = 0;

  get count(): number {
    return this.#ids.count;
  }

  /** What they take in a record's header at most, before it is compressed. */
  get bytes(): number {
    return this.count * STREAM_BYTES + this.#texts.length + this.#dayCount * DAY_BYTES;
  }

  add(stream: Stream, day: number): void {
    let place = stream.mark - this.#first;
    if (place < 0 || place >= PLACES) {
      place = this.#ids.find(stream.high, stream.low);
      if (place < 0) {
        stream.writeText(this.#texts);
        place = this.#addId(stream.high, stream.low, day);
      }
      stream.setMark(this.#first + place);
    }
    if (this.#lastDays[place] !== day) this.#addDay(place, day);
  }

  /** Adds a stream of which the list has nothing else to be known, or more days of one. */
  addText(high: number, low: number, text: Uint8Array, days: readonly number[]): void {
    const known = this.#ids.find(high, low);
    if (known < 0) this.#texts.raw(text, 0, text.length);
    const place = known < 0 ? this.#addId(high, low, days[0] as number) : known;
    for (const day of days) if (this.#lastDays[place] !== day) this.#addDay(place, day);
  }

  /** Adds what another list has. */
  append(other: StreamList): void {
    let at = 0;
    for (let index = 0; index < other.count; index++) {
      const [high, low] = [other.#ids.highs[index] as number, other.#ids.lows[index] as number];
      const end = other.#texts.endOf(at);
      let place = this.#ids.find(high, low);
      if (place < 0) {
        this.#texts.append(other.#texts.bytes.subarray(at, end));
        place = this.#addId(high, low, other.#firstDays[index] as number);
      }
      at = end;
      for (const day of other.#daysOf(index)) if (this.#lastDays[place] !== day) this.#addDay(place, day);
    }
  }

  /** The header of a record with the encoding `columns`: frames, as its value; empty where there are no streams. */
  encode(): Buffer {
    const { count } = this;
    if (count === 0) return NOTHING;
    const ids = new Int32Array(2 * count);
    for (let place = 0; place < count; place++) {
      ids[2 * place] = this.#ids.lows[place] as number;
      ids[2 * place + 1] = this.#ids.highs[place] as number;
    }
    const days = new Int32Array(count + this.#dayCount);
    const ends = new Uint32Array(2 * count);
    let end = 0;
    for (let place = 0; place < count; place++) {
      days[end++] = this.#firstDays[place] as number;
      const more = this.#moreDays.size === 0 ? undefined : this.#moreDays.get(place);
      if (more !== undefined) for (const day of more) days[end++] = day;
      ends[2 * place] = end;
    }
    return framesOf((to) => {
      to.put(varint(STREAM_COLUMNS.length));
      to.put(varint(count));
      to.put(ID_HEAD);
      to.put(new Uint8Array(ids.buffer));
      to.put(TEXT_HEAD);
      to.put(this.#texts.bytes.subarray(0, this.#texts.length));
      to.put(DAYS_HEAD);
      to.put(new Uint8Array(ends.buffer));
      to.put(new Uint8Array(days.buffer, 0, 4 * end));
    });
  }

  /** Adds a stream whose text was added before. */
  #addId(high: number, low: number, day: number): number {
    this.#firstDays.push(day);
    this.#lastDays.push(day);
    return this.#ids.add(high, low);
  }

  #addDay(place: number, day: number): void {
    this.#lastDays[place] = day;
    if (this.#firstDays[place] === day) return;
    let days = this.#moreDays.get(place);
    if (days === undefined) this.#moreDays.set(place, (days = new Set()));
    if (days.has(day)) return;
    days.add(day);
    this.#dayCount += 1;
  }

  #daysOf(place: number): readonly number[] {
    return [this.#firstDays[place] as number, ...(this.#moreDays.get(place) ?? [])];
  }
}

const NOTHING = Buffer.alloc(0);

import { framesOf } from '../rows/frames.ts';
import { nativeString, varint } from '../rows/native.ts';
import { StringColumn } from '../rows/string-column.ts';
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

/** A record has fewer streams than this (`MAX_ROWS`), so a mark identifies the list and the place in it. */
const PLACES = 65_536;

/** Bytes of a stream in the header in addition to its string: its length, its id, where its days end, and a day; of each other day. */
const [STREAM_BYTES, DAY_BYTES] = [24, 4];
const [FIRST_STREAMS, FIRST_TEXT_BYTES] = [16, 128];

let running = 0;

/** The streams of the entries of a record, each with its days. */
export class StreamList {
  /** The mark of the first stream: unique to this list. A stream mostly knows its place by its mark, without a look-up. */
  #first = ++running * PLACES;
  readonly #ids = new IdPlaces();
  readonly #texts = new StringColumn(FIRST_TEXT_BYTES);
  /** For each stream the day of its first entry, and that of its last one. */
  #firstDays = new Int32Array(FIRST_STREAMS);
  #lastDays = new Int32Array(FIRST_STREAMS);
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

  /** What the list takes in memory. */
  get memory(): number {
    return this.#texts.bytes.length + 24 * this.#firstDays.length;
  }

  /** Forgets all of them, and keeps the memory. */
  clear(): void {
    this.#first = ++running * PLACES;
    this.#ids.clear();
    this.#texts.clear();
    this.#moreDays.clear();
    this.#dayCount = 0;
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

  /** Adds a stream by its string, or days of one that is there. */
  addText(high: number, low: number, text: Uint8Array, days: readonly number[]): void {
    let place = this.#ids.find(high, low);
    if (place < 0) {
      this.#texts.raw(text, 0, text.length);
      place = this.#addId(high, low, days[0] as number);
    }
    for (const day of days) if (this.#lastDays[place] !== day) this.#addDay(place, day);
  }

  /** Adds what another list has. */
  append(other: StreamList): void {
    let at = 0;
    for (let index = 0; index < other.count; index++) {
      const [high, low] = [other.#ids.high(index), other.#ids.low(index)];
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
    const ends = new Uint32Array(2 * count);
    const more = this.#moreDays.size === 0 ? null : new Int32Array(count + this.#dayCount);
    let end = 0;
    for (let place = 0; place < count; place++) {
      if (more === null) end += 1;
      else for (const day of this.#daysOf(place)) more[end++] = day;
      ends[2 * place] = end;
    }
    return framesOf((to) => {
      to.put(varint(STREAM_COLUMNS.length));
      to.put(varint(count));
      to.put(ID_HEAD);
      to.put(new Uint8Array(this.#ids.halves.buffer, 0, 8 * count));
      to.put(TEXT_HEAD);
      to.put(this.#texts.bytes.subarray(0, this.#texts.length));
      to.put(DAYS_HEAD);
      to.put(new Uint8Array(ends.buffer));
      to.put(new Uint8Array((more ?? this.#firstDays).buffer, 0, 4 * end));
    });
  }

  /** Adds a stream whose text was added before. */
  #addId(high: number, low: number, day: number): number {
    const place = this.#ids.add(high, low);
    if (place === this.#firstDays.length) {
      this.#firstDays = doubled(this.#firstDays);
      this.#lastDays = doubled(this.#lastDays);
    }
    this.#firstDays[place] = day;
    this.#lastDays[place] = day;
    return place;
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

function doubled(days: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * days.length);
  larger.set(days);
  return larger;
}

const NOTHING = Buffer.alloc(0);

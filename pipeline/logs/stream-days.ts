import type { KnownStream, Stream } from './streams.ts';

/** What a record's header says of a stream: its label set, and the days (since the epoch) of which the record has entries of it. */
export type StreamDays = { readonly text: string; readonly days: readonly number[] };

/** A record has fewer streams than this (`MAX_ROWS`), so a mark tells the list and the place in it. */
const PLACES = 65_536;

/** A stream's id, its days and what separates them; its text grows by quotes that are escaped, or by letters of three bytes. */
const STREAM_BYTES = 48;

let running = 0;

/** The streams of the entries of a record, each with its days. */
export class StreamDayList {
  /** The mark of the first stream: tells this list from all others. A stream mostly knows its place by its mark, without a look-up. */
  readonly #first = ++running * PLACES;
  readonly #streams: KnownStream[] = [];
  readonly #places = new Map<string, number>();
  /** For each stream the days in the order of its entries; one that follows itself is there once. */
  readonly #days: number[][] = [];
  /** What they take in a record's header at most, in bytes. */
  bytes = 0;

  add(stream: Stream, day: number): void {
    let place = stream.mark - this.#first;
    if (place < 0 || place >= PLACES) {
      place = this.#placeOf(stream.known());
      stream.setMark(this.#first + place);
    }
    this.#addDay(place, day);
  }

  /** Adds what another list has. */
  append(other: StreamDayList): void {
    other.#streams.forEach((stream, index) => {
      const place = this.#placeOf(stream);
      for (const day of new Set(other.#days[index])) this.#addDay(place, day);
    });
  }

  /** As a record's header has them, by stream id. */
  toMap(): Map<string, StreamDays> {
    return new Map(
      this.#streams.map(({ id, text }, place) => {
        const days = this.#days[place] as number[];
        return [id, { text, days: days.length === 1 ? days : [...new Set(days)] }];
      }),
    );
  }

  #placeOf(stream: KnownStream): number {
    let place = this.#places.get(stream.id);
    if (place === undefined) {
      place = this.#streams.length;
      this.#places.set(stream.id, place);
      this.#streams.push(stream);
      this.#days.push([]);
      this.bytes += 3 * stream.text.length + STREAM_BYTES;
    }
    return place;
  }

  #addDay(place: number, day: number): void {
    const days = this.#days[place] as number[];
    if (days.at(-1) !== day) days.push(day);
  }
}

import type { Stream } from './streams.ts';

/** What a record's header says of a stream: its label set, and the days (since the epoch) of which the record has entries of it. */
export type StreamDays = { readonly text: string; readonly days: readonly number[] };

let running = 0;

/** The streams of the entries of a record, each with its days. */
export class StreamDayList {
  /** Tells this list from all others, so that a stream mostly knows its place in it without a look-up. */
  readonly #number = ++running;
  readonly #places = new Map<Stream, number>();
  /** For each stream the days in the order of its entries; one that follows itself is there once. */
  readonly #days: number[][] = [];

  add(stream: Stream, day: number): void {
    if (stream.list !== this.#number) this.#find(stream);
    const days = this.#days[stream.place] as number[];
    if (days.at(-1) !== day) days.push(day);
  }

  /** Adds what another list has. */
  append(other: StreamDayList): void {
    for (const [stream, place] of other.#places) for (const day of new Set(other.#days[place])) this.add(stream, day);
  }

  /** As a record's header has them, by stream id. */
  toMap(): Map<string, StreamDays> {
    const entry = ([{ id, text }, place]: [Stream, number]): [string, StreamDays] => {
      const days = this.#days[place] as number[];
      return [id, { text, days: days.length === 1 ? days : [...new Set(days)] }];
    };
    return new Map([...this.#places].map(entry));
  }

  #find(stream: Stream): void {
    let place = this.#places.get(stream);
    if (place === undefined) {
      place = this.#days.length;
      this.#places.set(stream, place);
      this.#days.push([]);
    }
    stream.list = this.#number;
    stream.place = place;
  }
}

import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { GroupTable } from '../base/group-table.ts';

/** Bytes of a label set that is reported; a longer one is one of the others. */
const MAX_STREAM_BYTES = 4096;
/** More than are ever known. */
const MOST = 1_000_000;
const NEVER = -1;
const idBytes = Buffer.alloc(8);

/** The streams that a partition knows of a tenant, each by its place: a number from 0 on, which changes when some are forgotten. */
export class KnownStreams {
  readonly #table = new GroupTable();
  /** The label set of each; null of one that is counted with the others. */
  readonly #texts: (string | null)[] = [];
  #textBytes = 0;
  /** The hours (since 1970, by append time) in which its label set was reported last, and in which it had an entry last. */
  readonly #publishedHours: number[] = [];
  readonly #seenHours: number[] = [];

  get size(): number {
    return this.#table.size;
  }

  /** Bytes of the label sets. */
  get textBytes(): number {
    return this.#textBytes;
  }

  /** The place of a stream; -1 where it is not known. */
  place(high: number, low: number): number {
    return this.#table.find(0, 0, high, low, 0, 0);
  }

  /**
   * Takes a stream, as one of the others where there are `most` already, or where their label sets would have more than `mostBytes`; beyond twice
   * as many it is not known.
   */
  learn(
    high: number,
    low: number,
    text: string,
    hour: number,
    { most, mostBytes }: { readonly most: number; readonly mostBytes: number },
  ): void {
    if (this.size >= 2 * most) return;
    const bytes = Buffer.byteLength(text);
    const isOther = this.size >= most || bytes > MAX_STREAM_BYTES || this.#textBytes + bytes > mostBytes;
    this.#add(high, low, isOther ? null : text, NEVER, hour);
  }

  /** The id of a stream, a character for each of its eight bytes. */
  id(place: number): string {
    idBytes.writeUInt32LE(this.#table.high(place), 0);
    idBytes.writeUInt32LE(this.#table.low(place), 4);
    return idBytes.toString('latin1');
  }

  /** The label set of a stream; null of one that is counted with the others. */
  text(place: number): string | null {
    return this.#texts[place] ?? null;
  }

  /** Its label set where that is to be reported in this hour; it counts as reported then. */
  report(place: number, hour: number): string | null {
    if (this.#publishedHours[place] === hour) return null;
    this.#publishedHours[place] = hour;
    return this.text(place);
  }

  see(place: number, hour: number): void {
    this.#seenHours[place] = hour;
  }

  /** Forgets those that had no entry in this hour and the one before; their label sets are reported again when they come back. */
  forget(hour: number): void {
    if (!this.#seenHours.some((seen) => seen < hour - 1)) return;
    const kept = new KnownStreams();
    for (let place = 0; place < this.size; place++) if ((this.#seenHours[place] as number) >= hour - 1) kept.#add(...this.#row(place));
    this.#table.clear();
    this.#textBytes = 0;
    for (const list of [this.#texts, this.#publishedHours, this.#seenHours]) list.length = 0;
    for (let place = 0; place < kept.size; place++) this.#add(...kept.#row(place));
  }

  write(to: ByteWriter): void {
    to.count(this.size);
    for (let place = 0; place < this.size; place++) {
      const [high, low, text, publishedHour, seenHour] = this.#row(place);
      to.word(high);
      to.word(low);
      to.text(text === null ? '' : Buffer.from(text).toString('latin1'));
      to.signed(publishedHour);
      to.signed(seenHour);
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): KnownStreams {
    const read = new KnownStreams();
    for (let left = from.count(MOST); left > 0; left--) {
      const [high, low, text] = [from.word(), from.word(), from.text()];
      read.#add(high, low, text === '' ? null : Buffer.from(text, 'latin1').toString(), from.signed(), from.signed());
    }
    return read;
  }

  #add(high: number, low: number, text: string | null, publishedHour: number, seenHour: number): void {
    const place = this.#table.at(0, 0, high, low, 0, 0);
    this.#texts[place] = text;
    this.#textBytes += text === null ? 0 : Buffer.byteLength(text);
    this.#publishedHours[place] = publishedHour;
    this.#seenHours[place] = seenHour;
  }

  #row(place: number): [number, number, string | null, number, number] {
    const [publishedHour, seenHour] = [this.#publishedHours[place] as number, this.#seenHours[place] as number];
    return [this.#table.high(place), this.#table.low(place), this.text(place), publishedHour, seenHour];
  }
}

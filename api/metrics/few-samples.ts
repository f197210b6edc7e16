import { lastOfEqual } from './sample-blocks.ts';
import type { Samples } from './sample-rows.ts';

/** An answer with more bytes is not read as a whole. */
const WHOLE_BYTES = 2 * 1024 * 1024;
const WIDTH = 8;
const HISTOGRAM = 1;

/** Samples of one series in a window, of either type; null where it has none. */
export type Own = { readonly numbers: Samples | null; readonly histograms: Samples | null };
type Columns = { readonly times: BigUint64Array; readonly values: BigUint64Array; readonly payloads: readonly Buffer[] };
const NO_PAYLOADS: readonly Buffer[] = [];
const NOTHING = Buffer.alloc(0);
const CUT_OFF = 'A block of samples ends before its last row.';

/** A block of the answer, read from its first byte on. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length;
  }

  varint(): number {
    for (let [value, factor] = [0, 1]; ; factor *= 128) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new Error(CUT_OFF);
      this.#at += 1;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error(CUT_OFF);
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  /** A string, of which most are empty. */
  text(): Buffer {
    const length = this.varint();
    return length === 0 ? NOTHING : this.take(length);
  }

  /** What stands before the values of a column: its name and its type. */
  head(): void {
    this.take(this.varint());
    this.take(this.varint());
  }

  /** A column of eight bytes a row, by its bits. */
  words(rows: number): BigUint64Array {
    this.head();
    const words = new BigUint64Array(rows);
    new Uint8Array(words.buffer).set(this.take(WIDTH * rows));
    return words;
  }
}

/**
 * All samples of a few series at once: blocks of Native with the columns type (UInt8), series (UInt64), time and value (Float64) and payload (String), ordered by
 * them and by arrival. Of equal times the last one is given. Null, and the statement ends, where there are too many to be read as a whole.
 */
export async function fewSamples(chunks: AsyncGenerator<Buffer>): Promise<ReadonlyMap<bigint, Own> | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > WHOLE_BYTES) return null;
    parts.push(chunk);
  }
  const reader = new Reader(Buffer.concat(parts));
  const found = new Map<bigint, Own>();
  while (!reader.isDone) addBlock(reader, found);
  for (const [id, { numbers, histograms }] of found)
    found.set(id, { numbers: numbers && lastOfEqual(numbers), histograms: histograms && lastOfEqual(histograms) });
  return found;
}

function addBlock(reader: Reader, found: Map<bigint, Own>): void {
  reader.varint();
  const rows = reader.varint();
  reader.head();
  const types = reader.take(rows);
  const series = reader.words(rows);
  const columns = { times: reader.words(rows), values: reader.words(rows), payloads: NO_PAYLOADS };
  reader.head();
  const payloads = Array.from({ length: rows }, () => reader.text());
  for (let from = 0; from < rows;) {
    const [type, id] = [types[from], series[from] as bigint];
    let to = from + 1;
    while (to < rows && series[to] === id && types[to] === type) to += 1;
    const own = found.get(id) ?? { numbers: null, histograms: null };
    if (type === HISTOGRAM) found.set(id, { ...own, histograms: joined(own.histograms, { ...columns, payloads }, from, to) });
    else found.set(id, { ...own, numbers: joined(own.numbers, columns, from, to) });
    from = to;
  }
}

/** Bits are copied: no NaN changes on the way. */
function joined(before: Samples | null, { times, values, payloads }: Columns, from: number, to: number): Samples {
  const after = {
    times: new Float64Array(times.slice(from, to).buffer),
    values: new Float64Array(values.slice(from, to).buffer),
    payloads: payloads.slice(from, to),
  };
  if (before === null) return after;
  const all = { times: new Float64Array(before.times.length + to - from), values: new Float64Array(before.times.length + to - from) };
  all.times.set(before.times);
  all.times.set(after.times, before.times.length);
  all.values.set(before.values);
  all.values.set(after.values, before.times.length);
  return { ...all, payloads: [...before.payloads, ...after.payloads] };
}

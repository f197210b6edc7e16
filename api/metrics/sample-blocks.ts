import type { Samples } from './sample-rows.ts';

const FIRST_ROWS = 65_536;
const NOTHING = Buffer.alloc(0);

/** Bytes that come in chunks, taken one after the other. */
class Feed {
  readonly #chunks: AsyncGenerator<Buffer>;
  /** Asked for before it is needed: the statement runs while others do. */
  #next: Promise<IteratorResult<Buffer>> | null;
  #bytes: Buffer = NOTHING;
  #at = 0;

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
    this.#next = chunks.next();
    this.#next.catch(() => undefined);
  }

  /** Whether there is another byte. */
  async hasMore(): Promise<boolean> {
    while (this.#at === this.#bytes.length) {
      const next = await (this.#next ?? this.#chunks.next());
      this.#next = null;
      if (next.done === true) return false;
      this.#bytes = next.value;
      this.#at = 0;
    }
    return true;
  }

  /** Fills all of `target`. */
  async fill(target: Uint8Array): Promise<void> {
    for (let filled = 0; filled < target.length;) {
      if (!(await this.hasMore())) throw new Error('A block of samples ends before its last row.');
      const part = Math.min(target.length - filled, this.#bytes.length - this.#at);
      target.set(this.#bytes.subarray(this.#at, this.#at + part), filled);
      this.#at += part;
      filled += part;
    }
  }

  async varint(): Promise<number> {
    const byte = new Uint8Array(1);
    for (let [value, factor] = [0, 1]; ; factor *= 128) {
      await this.fill(byte);
      const next = byte[0] as number;
      value += (next & 127) * factor;
      if (next < 128) return value;
    }
  }

  /** What stands before the values of a column: its name, which is passed over, and its type. */
  async head(): Promise<string> {
    await this.fill(new Uint8Array(await this.varint()));
    const type = Buffer.alloc(await this.varint());
    await this.fill(type);
    return String(type);
  }

  async end(): Promise<void> {
    await this.#chunks.return(undefined);
  }
}

/**
 * Blocks of Native with the columns series (UInt64), time and value (Float64), ordered by series and time, and maybe by arrival: given
 * out series by series, column by column. Times are UInt32, milliseconds since a time, or Float64, since 1970. Of equal times the last one is given. A block of the answer is held, and series are views of it: a copy of each was most of what a
 * query left behind, and V8 does not see how much memory waits for it to be collected.
 */
export class SampleBlocks {
  readonly #feed: Feed;
  readonly #since: number;
  #rows = 0;
  #at = 0;
  #series = new BigUint64Array(FIRST_ROWS);
  #times = new Float64Array(FIRST_ROWS);
  #values = new Float64Array(FIRST_ROWS);
  /** Times as they come, where they are four bytes. */
  #short = new Uint32Array(FIRST_ROWS);
  /** Whether the series that was given last has equal times. */
  hasTies = false;

  /** `since`: of times that are UInt32, milliseconds. */
  constructor(chunks: AsyncGenerator<Buffer>, since: number) {
    this.#feed = new Feed(chunks);
    this.#since = since;
  }

  /** The samples of a series, until it is called again; null where it has none. To be called in the order of ids: rows of lower ones are passed over. */
  async of(id: bigint): Promise<Samples | null> {
    let found: Samples | null = null;
    this.hasTies = false;
    while (this.#at < this.#rows || (await this.#more())) {
      const own = this.#series[this.#at] as bigint;
      if (own > id) break;
      const [from, to] = [this.#at, this.#endOf(own)];
      this.#at = to;
      if (own < id) continue;
      const [times, values] = [this.#times.subarray(from, to), this.#values.subarray(from, to)];
      // what the next block overwrites is copied; typed arrays copy bits: no NaN changes on the way
      found = found === null && to < this.#rows ? { times, values, payloads: [] } : joined(found, times, values);
      if (to < this.#rows) break;
    }
    if (found === null) return null;
    const own = lastOfEqual(found);
    this.hasTies = own !== found;
    return own;
  }

  /** Ends the statement. */
  async end(): Promise<void> {
    await this.#feed.end();
  }

  /** Where the rows of the series end that the next row has. */
  #endOf(own: bigint): number {
    const series = this.#series;
    let [low, step] = [this.#at, 1];
    while (low + step < this.#rows && series[low + step] === own) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low + step, this.#rows);
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (series[middle] === own) low = middle;
      else high = middle;
    }
    return high;
  }

  async #more(): Promise<boolean> {
    const feed = this.#feed;
    if (!(await feed.hasMore())) return false;
    await feed.varint();
    const rows = await feed.varint();
    if (rows > this.#series.length) {
      this.#series = new BigUint64Array(rows);
      this.#times = new Float64Array(rows);
      this.#values = new Float64Array(rows);
      this.#short = new Uint32Array(rows);
    }
    await feed.head();
    await feed.fill(bytesOf(this.#series, rows));
    await this.#readTimes(rows);
    await feed.head();
    await feed.fill(bytesOf(this.#values, rows));
    this.#rows = rows;
    this.#at = 0;
    return rows > 0 || this.#more();
  }

  async #readTimes(rows: number): Promise<void> {
    const [times, short, since] = [this.#times, this.#short, this.#since];
    const isShort = (await this.#feed.head()) === 'UInt32';
    await this.#feed.fill(bytesOf(isShort ? short : times, rows));
    if (isShort) for (let row = 0; row < rows; row += 1) times[row] = since + (short[row] as number);
  }
}

const bytesOf = (column: BigUint64Array | Float64Array | Uint32Array, rows: number): Uint8Array =>
  new Uint8Array(column.buffer, 0, column.BYTES_PER_ELEMENT * rows);

/** In memory of its own. */
function joined(before: Samples | null, times: Float64Array, values: Float64Array): Samples {
  if (before === null) return { times: times.slice(), values: values.slice(), payloads: [] };
  const length = before.times.length + times.length;
  const all = { times: new Float64Array(length), values: new Float64Array(length), payloads: [] };
  all.times.set(before.times);
  all.times.set(times, before.times.length);
  all.values.set(before.values);
  all.values.set(values, before.values.length);
  return all;
}

/** Where the first time stands that is equal to the one before; the length where there is none. */
function tieOf(times: Float64Array): number {
  const count = times.length;
  let before = NaN;
  for (let at = 0; at < count; at += 1) {
    const own = times[at] as number;
    if (own === before) return at;
    before = own;
  }
  return count;
}

/** Of equal times the last one; the same object where there are none. */
export function lastOfEqual(samples: Samples): Samples {
  const { times, values } = samples;
  let at = tieOf(times);
  if (at === times.length) return samples;
  const bits = new BigUint64Array(values.buffer, values.byteOffset, values.length);
  const payloads = [...samples.payloads];
  let to = at - 1;
  for (; at < times.length; at += 1) {
    if (times[at] !== times[to]) to += 1;
    times[to] = times[at] as number;
    bits[to] = bits[at] as bigint;
    if (payloads.length > 0) payloads[to] = payloads[at] as Buffer;
  }
  return { times: times.slice(0, to + 1), values: values.slice(0, to + 1), payloads: payloads.slice(0, to + 1) };
}

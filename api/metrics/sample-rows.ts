/** Samples of one series: of equal times the last one. */
export type Samples = { readonly times: Float64Array; readonly values: Float64Array; readonly payloads: readonly Buffer[] };

const [ROW_BYTES, FIRST] = [24, 512];

/** Growing columns of one series. */
class Columns {
  count = 0;
  /** Bits, so that no NaN changes on the way. */
  #times = new BigUint64Array(FIRST);
  #values = new BigUint64Array(FIRST);
  #payloads: Buffer[] = [];

  /** Adds a row, or replaces the last one where it has the same time. */
  add(time: bigint, value: bigint, payload: Buffer): void {
    const isSame = this.count > 0 && this.#times[this.count - 1] === time;
    const at = isSame ? this.count - 1 : this.count;
    if (at === this.#times.length) this.#grow();
    this.#times[at] = time;
    this.#values[at] = value;
    this.#payloads[at] = payload;
    this.count = at + 1;
  }

  /** What was added, in memory of its own; then it is empty. */
  take(): Samples {
    const samples = {
      times: new Float64Array(this.#times.slice(0, this.count).buffer),
      values: new Float64Array(this.#values.slice(0, this.count).buffer),
      payloads: this.#payloads,
    };
    this.count = 0;
    this.#payloads = [];
    return samples;
  }

  #grow(): void {
    const [times, values] = [new BigUint64Array(2 * this.count), new BigUint64Array(2 * this.count)];
    times.set(this.#times);
    values.set(this.#values);
    [this.#times, this.#values] = [times, values];
  }
}

/**
 * Rows of RowBinary (series, time as Float64, value, payload), ordered by series and time, later arrivals behind earlier ones: given out
 * series by series. One series is held at a time, with a chunk of the answer.
 */
export class SampleRows {
  readonly #chunks: AsyncGenerator<Buffer>;
  readonly #columns = new Columns();
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #isDone = false;
  /** Asked for before it is needed: the statement runs while others do. */
  #next: Promise<IteratorResult<Buffer>> | null;

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
    this.#next = chunks.next();
    this.#next.catch(() => undefined);
  }

  /** The samples of a series; null where it has none. To be called in the order of ids: rows of lower ones are passed over. */
  async of(id: bigint): Promise<Samples | null> {
    for (;;) {
      const size = this.#rowSize();
      if (size < 0) {
        if (!(await this.#more())) break;
        continue;
      }
      const series = this.#bytes.readBigUInt64LE(this.#at);
      if (series > id) break;
      if (series === id) this.#add(size);
      this.#at += size;
    }
    return this.#columns.count === 0 ? null : this.#columns.take();
  }

  /** Ends the statement. */
  async end(): Promise<void> {
    await this.#chunks.return(undefined);
  }

  #add(size: number): void {
    const at = this.#at;
    const payload = Buffer.from(this.#bytes.subarray(at + size - this.#payloadLength, at + size));
    this.#columns.add(this.#bytes.readBigUInt64LE(at + 8), this.#bytes.readBigUInt64LE(at + 16), payload);
  }

  #payloadLength = 0;

  /** Bytes of the row that begins here; -1 where it is not whole. */
  #rowSize(): number {
    const left = this.#bytes.length - this.#at;
    let [length, factor] = [0, 1];
    for (let at = this.#at + ROW_BYTES; at < this.#bytes.length; factor *= 128) {
      const byte = this.#bytes[at++] as number;
      length += (byte & 127) * factor;
      if (byte < 128) {
        this.#payloadLength = length;
        const size = at - this.#at + length;
        return size <= left ? size : -1;
      }
    }
    return -1;
  }

  async #more(): Promise<boolean> {
    if (this.#isDone) return false;
    const next = await (this.#next ?? this.#chunks.next());
    this.#next = null;
    if (next.done === true) {
      this.#isDone = true;
      return false;
    }
    const rest = this.#bytes.subarray(this.#at);
    this.#bytes = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    this.#at = 0;
    return true;
  }
}

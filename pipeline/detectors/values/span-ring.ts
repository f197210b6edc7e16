import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';

/** The means of the last spans of time, in single precision; those of which nothing came are NaN. */
export class SpanRing {
  readonly #means: Float32Array;
  #newest = -1;
  /** How many values the newest mean is of. */
  #count = 0;

  constructor(spans: number) {
    this.#means = new Float32Array(spans).fill(NaN);
  }

  get spans(): number {
    return this.#means.length;
  }

  /** Adds a value to a span, the newest one or a later one. */
  put(span: number, value: number): void {
    const { length } = this.#means;
    if (span > this.#newest) {
      for (let next = Math.max(this.#newest + 1, span - length + 1); next <= span; next++) this.#means[next % length] = NaN;
      this.#newest = span;
      this.#count = 0;
    }
    const before = this.#count === 0 ? 0 : (this.#means[span % length] as number);
    this.#count += 1;
    this.#means[span % length] = before + (value - before) / this.#count;
  }

  /** NaN where nothing is known. */
  at(span: number): number {
    const { length } = this.#means;
    return span > this.#newest || span <= this.#newest - length || span < 0 ? NaN : (this.#means[span % length] as number);
  }

  /** The mean of spans, the last one not inside; NaN where nothing came in them. */
  mean(from: number, to: number): number {
    let [sum, count] = [0, 0];
    for (let span = from; span < to; span++) {
      const value = this.at(span);
      if (Number.isNaN(value)) continue;
      sum += value;
      count += 1;
    }
    return count === 0 ? NaN : sum / count;
  }

  /** The values of spans, of those that have one. */
  values(from: number, to: number): Float64Array {
    const found = new Float64Array(Math.max(0, to - from));
    let count = 0;
    for (let span = from; span < to; span++) {
      const value = this.at(span);
      if (!Number.isNaN(value)) found[count++] = value;
    }
    return found.subarray(0, count);
  }

  write(to: ByteWriter): void {
    to.count(this.#newest + 1);
    to.count(this.#count);
    const bytes = Buffer.from(this.#means.buffer);
    for (let at = 0; at < bytes.length; at += 4) to.word(bytes.readUInt32LE(at));
  }

  /** What `write` wrote of a ring of `spans` spans; throws CutOff where there is less. */
  static read(from: ByteReader, spans: number): SpanRing {
    const read = new SpanRing(spans);
    read.#newest = from.count() - 1;
    read.#count = from.count();
    const bytes = Buffer.alloc(4 * spans);
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(from.word(), at);
    read.#means.set(new Float32Array(bytes.buffer, bytes.byteOffset, spans));
    return read;
  }
}

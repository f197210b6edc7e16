const FIRST_WORDS = 64;
const FIRST_BYTES = 8192;

/** The definitions of a record, each once, as Native has strings; each with the id of its series. */
export class DefinitionList {
  count = 0;
  /** Their bytes: of each its length, then its text. */
  natives: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  length = 0;
  lows: Uint32Array = new Uint32Array(FIRST_WORDS);
  highs: Uint32Array = new Uint32Array(FIRST_WORDS);
  #ends = new Uint32Array(FIRST_WORDS);
  /** Codes by id, made when rows of another record come in. */
  #codes: Map<number, number> | null = null;

  /** Adds one that the caller knows to be new, or takes for it; returns its code. `source[start..end)`: its text as Native has it. */
  add(low: number, high: number, source: Uint8Array, start: number, end: number): number {
    const code = this.count;
    if (code === this.lows.length) this.#grow();
    const to = this.length + end - start;
    if (to > this.natives.length) this.#widen(to);
    this.natives.set(source.subarray(start, end), this.length);
    this.length = to;
    this.lows[code] = low;
    this.highs[code] = high;
    this.#ends[code] = to;
    this.count = code + 1;
    this.#codes?.set(keyOf(low, high), code);
    return code;
  }

  /** Adds those of another list that are not here yet; returns the code here of each of theirs. */
  append(other: DefinitionList): Uint32Array {
    const known = (this.#codes ??= this.#index());
    const codes = new Uint32Array(other.count);
    for (let code = 0; code < other.count; code++) {
      const [low, high] = [other.lows[code] as number, other.highs[code] as number];
      const [start, end] = [other.#startOf(code), other.#ends[code] as number];
      const own = known.get(keyOf(low, high));
      codes[code] = own !== undefined && this.#has(own, low, high, other.natives, start, end) ? own : this.add(low, high, other.natives, start, end); // prettier-ignore
    }
    return codes;
  }

  #index(): Map<number, number> {
    const codes = new Map<number, number>();
    for (let code = 0; code < this.count; code++) codes.set(keyOf(this.lows[code] as number, this.highs[code] as number), code);
    return codes;
  }

  #startOf(code: number): number {
    return code === 0 ? 0 : (this.#ends[code - 1] as number);
  }

  #has(code: number, low: number, high: number, natives: Buffer, start: number, end: number): boolean {
    if (this.lows[code] !== low >>> 0 || this.highs[code] !== high >>> 0) return false;
    return this.natives.compare(natives, start, end, this.#startOf(code), this.#ends[code]) === 0;
  }

  #widen(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.natives.length));
    this.natives.copy(larger, 0, 0, this.length);
    this.natives = larger;
  }

  #grow(): void {
    const words = 2 * this.lows.length;
    const [lows, highs, ends] = [new Uint32Array(words), new Uint32Array(words), new Uint32Array(words)];
    lows.set(this.lows);
    highs.set(this.highs);
    ends.set(this.#ends);
    [this.lows, this.highs, this.#ends] = [lows, highs, ends];
  }
}

/** 52 bits of an id: what is found by it is compared. */
const keyOf = (low: number, high: number): number => (high & 0xf_ffff) * 4_294_967_296 + (low >>> 0);

/** A map that knows how many bytes its values take. */
export class SizedMap<Key, Value> {
  readonly #sizeOf: (value: Value) => number;
  readonly #all = new Map<Key, { readonly value: Value; readonly size: number }>();
  #bytes = 0;

  constructor(sizeOf: (value: Value) => number) {
    this.#sizeOf = sizeOf;
  }

  get size(): number {
    return this.#all.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: Key): Value | undefined {
    return this.#all.get(key)?.value;
  }

  has(key: Key): boolean {
    return this.#all.has(key);
  }

  /** The value is the last one then. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const size = this.#sizeOf(value);
    this.#all.set(key, { value, size });
    this.#bytes += size;
  }

  delete(key: Key): void {
    this.#bytes -= this.#all.get(key)?.size ?? 0;
    this.#all.delete(key);
  }

  /** In the order in which they were set; what is set or deleted meanwhile is seen. */
  *values(): Generator<Value, void> {
    for (const { value } of this.#all.values()) yield value;
  }
}

/** What is written of an alert in addition to it. */
const OVERHEAD_BYTES = 80;

/** What an alert takes as JSON, about: its evidence is JSON within JSON, in which quotes and escapes take more. */
export const alertBytes = (alert: object): number => Buffer.byteLength(JSON.stringify(alert)) + OVERHEAD_BYTES;

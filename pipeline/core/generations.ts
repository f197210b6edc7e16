/**
 * A bounded memory of what was used lately, as two tables. An item goes into the young one; a full young one becomes the old one, and
 * the former old one is forgotten. An item found in the old one is put into the young one again, so what is used stays. A hit in the
 * young one costs nothing more. It holds at most twice `maxItems` and twice `maxBytes`.
 */
export class Generations<Table extends { readonly size: number }> {
  young: Table;
  old: Table;
  readonly #make: (dropped?: Table) => Table;
  readonly #maxItems: number;
  readonly #maxBytes: number;
  #bytes = 0;

  /** `make` gives an empty table, also of one that was dropped. */
  constructor(make: (dropped?: Table) => Table, maxItems: number, maxBytes = Infinity) {
    this.#make = make;
    this.#maxItems = maxItems;
    this.#maxBytes = maxBytes;
    this.young = make();
    this.old = make();
  }

  /** The table to put an item of `bytes` bytes into. */
  tableFor(bytes = 0): Table {
    if (this.young.size >= this.#maxItems || (this.#bytes + bytes > this.#maxBytes && this.young.size > 0)) {
      const dropped = this.old;
      this.old = this.young;
      this.young = this.#make(dropped);
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    return this.young;
  }
}

/** A map that holds what was used lately, of at most twice `maxItems`. */
export class RecentMap<Key, Value> {
  readonly #maps: Generations<Map<Key, Value>>;

  constructor(maxItems: number, maxBytes = Infinity) {
    this.#maps = new Generations(() => new Map<Key, Value>(), maxItems, maxBytes);
  }

  /** The value of a key, which counts as used now; `bytes` as `set` has them. */
  get(key: Key, bytes = 0): Value | undefined {
    const young = this.#maps.young.get(key);
    if (young !== undefined) return young;
    const old = this.#maps.old.get(key);
    if (old !== undefined) this.#maps.tableFor(bytes).set(key, old);
    return old;
  }

  /** Remembers a value; `bytes` is what it takes, where the map has a bound of bytes. */
  set(key: Key, value: Value, bytes = 0): void {
    this.#maps.tableFor(bytes).set(key, value);
  }
}

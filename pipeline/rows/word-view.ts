import { StringView } from './string-view.ts';

/**
 * Words as codes into keys, where they lie. As with the strings, one object serves record after record, `codes` are decoded at the
 * first access, and may be longer than `count`.
 */
export class WordView {
  readonly keys = new StringView();
  count = 0;
  #data: DataView = new DataView(new ArrayBuffer(0));
  #from = 0;
  #isWide = false;
  #codes = new Uint16Array(0);
  #isKnown = true;

  /** Takes the `count` codes that begin at `from`, of one byte each or of two. Whether the keys have all of them. */
  read(data: DataView, from: number, count: number, isWide: boolean): boolean {
    this.#data = data;
    this.#from = from;
    this.#isWide = isWide;
    this.#isKnown = false;
    this.count = count;
    const keys = this.keys.count;
    // a code of one byte cannot be too large then
    if (keys > (isWide ? 0xffff : 0xff)) return true;
    if (isWide) {
      for (let i = 0; i < count; i++) if (data.getUint16(from + 2 * i, true) >= keys) return false;
    } else {
      for (let at = from; at < from + count; at++) if (data.getUint8(at) >= keys) return false;
    }
    return true;
  }

  /** No words at all. */
  clear(): void {
    this.count = 0;
    this.keys.count = 0;
  }

  get codes(): Uint16Array {
    if (!this.#isKnown) this.#decode();
    return this.#codes;
  }

  #decode(): void {
    const { count } = this;
    const data = this.#data;
    const from = this.#from;
    if (this.#codes.length < count || this.#codes.length > Math.max(count, KEPT))
      this.#codes = new Uint16Array(Math.max(count, Math.min(this.#codes.length * 2, KEPT)));
    const codes = this.#codes;
    if (this.#isWide) for (let i = 0; i < count; i++) codes[i] = data.getUint16(from + 2 * i, true);
    else for (let i = 0; i < count; i++) codes[i] = data.getUint8(from + i);
    this.#isKnown = true;
  }
}

/** Codes that are kept for the next record. */
const KEPT = 1 << 18;

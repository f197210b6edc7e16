import type { LogPlace } from './place/log-place.ts';

/** Entries of a tail that are held at most, and their bytes. */
const MAX_COUNT = 20_000;
const MAX_BYTES = 4 * 1024 * 1024;

type Held = { readonly text: Buffer; readonly place: LogPlace };

/**
 * Entries that come while a tail is given stored ones. As long as it waits for those to be stored, too many are discarded: they are stored
 * too by then, and the stored ones go up to behind them. Later what is too much is lost, and counted.
 */
export class HeldEntries {
  #entries: Held[] = [];
  #at = 0;
  #bytes = 0;
  #moved: LogPlace | null = null;
  #isFixed = false;
  /** Entries that were neither given nor held. */
  lost = 0;

  add(text: Buffer, place: LogPlace): void {
    const isFull = this.#entries.length - this.#at >= MAX_COUNT || this.#bytes + text.length > MAX_BYTES;
    if (isFull && this.#isFixed) {
      this.lost += 1;
      return;
    }
    if (isFull) {
      this.#entries = [];
      [this.#at, this.#bytes, this.#moved] = [0, 0, place];
      return;
    }
    // the bytes of the frame that it came in are not kept
    this.#entries.push({ text: Buffer.from(text), place });
    this.#bytes += text.length;
  }

  /** The place behind what was discarded since the last call; null for nothing, and then nothing is discarded any more. */
  takeMoved(): LogPlace | null {
    const moved = this.#moved;
    this.#moved = null;
    if (moved === null) this.#isFixed = true;
    return moved;
  }

  /** The next one, which is not held any more; null when there is none. */
  next(): Held | null {
    const entry = this.#entries[this.#at];
    if (entry === undefined) {
      this.#entries = [];
      [this.#at, this.#bytes] = [0, 0];
      return null;
    }
    this.#at += 1;
    this.#bytes -= entry.text.length;
    return entry;
  }
}

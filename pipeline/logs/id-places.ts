import { mixId } from '../core/mix.ts';

/** Fewer ids are looked through one by one. */
const FEW = 12;

/** The places of ids of 64 bits, given as signed halves: 0 for the first one, and so on. */
export class IdPlaces {
  readonly highs: number[] = [];
  readonly lows: number[] = [];
  /** Places, each plus one, by the hash of the id; empty while there are few. */
  #slots = new Int32Array(0);

  get count(): number {
    return this.lows.length;
  }

  /** The place of an id; -1 where it is not there. */
  find(high: number, low: number): number {
    if (this.#slots.length === 0) return this.#look(high, low);
    return (this.#slots[this.#slotOf(high, low)] as number) - 1;
  }

  /** Adds an id that is not there; gives its place. */
  add(high: number, low: number): number {
    const place = this.lows.length;
    this.highs.push(high);
    this.lows.push(low);
    if (place >= FEW && 2 * (place + 1) > this.#slots.length) this.#grow();
    else if (this.#slots.length > 0) this.#slots[this.#slotOf(high, low)] = place + 1;
    return place;
  }

  #look(high: number, low: number): number {
    let place = this.lows.length - 1;
    while (place >= 0 && (this.lows[place] !== low || this.highs[place] !== high)) place -= 1;
    return place;
  }

  /** The slot that holds the id, or would. */
  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = mixId(high, low) & mask; ; slot = (slot + 1) & mask) {
      const place = (slots[slot] as number) - 1;
      if (place < 0 || (this.lows[place] === low && this.highs[place] === high)) return slot;
    }
  }

  #grow(): void {
    this.#slots = new Int32Array(Math.max(4 * this.#slots.length, 64));
    this.lows.forEach((low, place) => {
      this.#slots[this.#slotOf(this.highs[place] as number, low)] = place + 1;
    });
  }
}

import { mixId } from '../core/mix.ts';

/** Fewer ids are looked through one by one. */
const FEW = 12;
const FIRST = 16;

/** The places of ids of 64 bits, given as signed halves: 0 for the first one, and so on. */
export class IdPlaces {
  count = 0;
  /** Of each id the lower half and the upper one. */
  halves = new Int32Array(2 * FIRST);
  /** Places, each plus one, by the hash of the id; not used while there are few. */
  #slots = new Int32Array(0);

  high(place: number): number {
    return this.halves[2 * place + 1] as number;
  }

  low(place: number): number {
    return this.halves[2 * place] as number;
  }

  /** The place of an id; -1 where it is not there. */
  find(high: number, low: number): number {
    return this.count <= FEW ? this.#look(high, low) : (this.#slots[this.#slotOf(high, low)] as number) - 1;
  }

  /** Adds an id that is not there; gives its place. */
  add(high: number, low: number): number {
    const place = this.count;
    if (2 * place === this.halves.length) this.#grow();
    this.halves[2 * place] = low;
    this.halves[2 * place + 1] = high;
    this.count += 1;
    if (this.count > FEW) this.#put(place);
    return place;
  }

  /** Forgets all of them, and keeps the memory. */
  clear(): void {
    this.count = 0;
    this.#slots.fill(0);
  }

  #look(high: number, low: number): number {
    let place = this.count - 1;
    while (place >= 0 && (this.low(place) !== low || this.high(place) !== high)) place -= 1;
    return place;
  }

  #put(place: number): void {
    const isFirst = place === FEW;
    const isFull = 2 * this.count > this.#slots.length;
    if (isFull) this.#slots = new Int32Array(Math.max(4 * this.#slots.length, 4 * FIRST));
    for (let from = isFirst || isFull ? 0 : place; from <= place; from++)
      this.#slots[this.#slotOf(this.high(from), this.low(from))] = from + 1;
  }

  /** The slot that holds the id, or would. */
  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = mixId(high, low) & mask; ; slot = (slot + 1) & mask) {
      const place = (slots[slot] as number) - 1;
      if (place < 0 || (this.low(place) === low && this.high(place) === high)) return slot;
    }
  }

  #grow(): void {
    const larger = new Int32Array(2 * this.halves.length);
    larger.set(this.halves);
    this.halves = larger;
  }
}

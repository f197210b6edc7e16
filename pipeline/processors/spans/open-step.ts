import { mixId } from '../../core/mix.ts';
import { CutOff, type ByteReader, type ByteWriter } from '../../core/snapshot-bytes.ts';
import { Words } from './cells.ts';

const FIRST_SPANS = 64;
/** Slots for each span that fits. */
const SLOTS = 2;
const MOST = 0xffff_ffff;
/** Words of a span: its key and that of its parent, by their halves, its duration, its minute, its service, whose it is, and what follows. */
const COLUMNS = ['high', 'low', 'parentHigh', 'parentLow', 'durationHigh', 'durationLow', 'minute', 'service', 'owner', 'info'] as const;
type Column = (typeof COLUMNS)[number];

/** What else is known of a span, as one number: the second of its minute, its kind, and whether it is an error. */
export const infoOf = (second: number, kind: number, isError: boolean): number => second * 16 + kind * 2 + (isError ? 1 : 0);
export const kindOfInfo = (info: number): number => (info >> 1) & 7;
export const isErrorInfo = (info: number): boolean => (info & 1) === 1;
export const secondOfInfo = (info: number): number => info >> 4;

/** Whose spans are: a tenant, and their retention class in days. */
export type Owner = { readonly tenantId: number; readonly retentionDays: number };

/** The spans of a partition that were appended in one step of time, each identity once, by their keys. */
export class OpenStep {
  readonly number: number;
  count = 0;
  readonly services = new Words();
  readonly owners: Owner[] = [];
  /** What each tenant holds here. Bytes, about. */
  readonly held = new Map<number, number>();
  heldByAll = 0;
  /** What is kept of a span: numbers of 32 bits. A key of zeros is none. */
  readonly columns: Record<Column, Uint32Array>;
  /** A span's number and one; 0 is free. */
  #slots = new Uint32Array(FIRST_SPANS * SLOTS);
  /** A bit for each key, at its hash, eight times as many as spans fit: most keys that are not there are found to be missing in little memory. */
  #marks = new Uint8Array(FIRST_SPANS);
  /** The span of the same key that came next: its number and one. */
  #next = new Uint32Array(FIRST_SPANS);

  constructor(number: number) {
    this.number = number;
    this.columns = Object.fromEntries(COLUMNS.map((column) => [column, new Uint32Array(FIRST_SPANS)])) as Record<Column, Uint32Array>;
  }

  addOwner({ tenantId, retentionDays }: Owner): number {
    const known = this.owners.findLastIndex((one) => one.tenantId === tenantId && one.retentionDays === retentionDays);
    return known >= 0 ? known : this.owners.push({ tenantId, retentionDays }) - 1;
  }

  charge(tenantId: number, bytes: number): void {
    this.held.set(tenantId, (this.held.get(tenantId) ?? 0) + bytes);
    this.heldByAll += bytes;
  }

  /** The first span of a key, in the order in which they came; -1 for none. */
  first(high: number, low: number, hash = mixId(high, low)): number {
    const { high: highs, low: lows } = this.columns;
    const slots = this.#slots;
    if (((this.#marks[(hash >>> 3) & (this.#marks.length - 1)] as number) & (1 << (hash & 7))) === 0) return -1;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot] as number;
      if (found === 0) return -1;
      if (highs[found - 1] === high && lows[found - 1] === low) return found - 1;
    }
  }

  /** The next span of the same key; -1 for none. */
  after(span: number): number {
    return (this.#next[span] as number) - 1;
  }

  /** Whether it has a span of this key and kind. `hash`: that of the key, `mixId`. */
  has(high: number, low: number, kind: number, hash = mixId(high, low)): boolean {
    const { info } = this.columns;
    for (let span = this.first(high, low, hash); span >= 0; span = this.after(span))
      if (kindOfInfo(info[span] as number) === kind) return true;
    return false;
  }

  /** Makes space for a span, whose number it gives: all columns are to be set, then `close` is to be called. */
  open(): number {
    if (this.count === this.#next.length) this.#grow();
    return this.count;
  }

  close(): void {
    this.count += 1;
    this.#index(this.count - 1);
  }

  write(to: ByteWriter): void {
    for (const number of [this.number, this.services.texts.length]) to.count(number);
    for (const text of this.services.texts) to.text(text);
    to.count(this.owners.length);
    for (const { tenantId, retentionDays } of this.owners) for (const number of [tenantId, retentionDays]) to.count(number);
    to.count(this.held.size);
    for (const [tenant, held] of this.held) for (const number of [tenant, held]) to.count(number);
    to.count(this.count);
    for (const column of COLUMNS) to.bytes(new Uint8Array(this.columns[column].buffer, 0, 4 * this.count));
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): OpenStep {
    const step = new OpenStep(from.count());
    for (let left = from.count(MOST); left > 0; left--) step.services.at(from.text());
    for (let left = from.count(MOST); left > 0; left--) step.owners.push({ tenantId: from.count(MOST), retentionDays: from.count(0xffff) });
    for (let left = from.count(MOST); left > 0; left--) step.charge(from.count(MOST), from.count());
    const count = from.count(MOST);
    let capacity = FIRST_SPANS;
    while (capacity < count) capacity *= 2;
    for (const column of COLUMNS) {
      const bytes = from.bytes();
      if (bytes.length !== 4 * count) throw new CutOff();
      const numbers = new Uint32Array(capacity);
      new Uint8Array(numbers.buffer).set(bytes);
      step.columns[column] = numbers;
    }
    const { service, owner } = step.columns;
    for (let span = 0; span < count; span++)
      if ((service[span] as number) >= step.services.texts.length || (owner[span] as number) >= step.owners.length) throw new CutOff();
    step.#next = new Uint32Array(capacity);
    step.#slots = new Uint32Array(capacity * SLOTS);
    step.#marks = new Uint8Array(capacity);
    for (step.count = 1; step.count <= count; step.count++) step.#index(step.count - 1);
    step.count = count;
    return step;
  }

  /** Finds its slot, or its place behind those of the same key. */
  #index(span: number): void {
    const { high, low } = this.columns;
    let last = this.first(high[span] as number, low[span] as number);
    if (last < 0) {
      const hash = mixId(high[span] as number, low[span] as number);
      const byte = (hash >>> 3) & (this.#marks.length - 1);
      this.#marks[byte] = (this.#marks[byte] as number) | (1 << (hash & 7));
      const mask = this.#slots.length - 1;
      let slot = hash & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = span + 1;
      return;
    }
    // as many as there are kinds
    for (let next = this.after(last); next >= 0; next = this.after(next)) last = next;
    this.#next[last] = span + 1;
  }

  #grow(): void {
    const capacity = this.#next.length * 2;
    const widened = (numbers: Uint32Array): Uint32Array => {
      const larger = new Uint32Array(capacity);
      larger.set(numbers);
      return larger;
    };
    for (const column of COLUMNS) this.columns[column] = widened(this.columns[column]);
    const { count } = this;
    this.#next = new Uint32Array(capacity);
    this.#slots = new Uint32Array(capacity * SLOTS);
    this.#marks = new Uint8Array(capacity);
    for (let span = 0; span < count; span++) this.#index(span);
  }
}

import { SEVERITIES, type Severity } from '../../core/severity.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';

const KINDS = SEVERITIES.length;
/** More kinds at once than there are. */
const MOST_MASK = 2 ** KINDS - 1;

/** The entries of a stream by minute (since 1970, by the time of the entries) and severity. */
export class MinuteCounts {
  readonly #minutes = new Map<number, number[]>();

  get size(): number {
    return this.#minutes.size;
  }

  /** True where the minute was not there. */
  add(minute: number, severity: Severity, entries: number): boolean {
    const counts = this.#minutes.get(minute);
    if (counts !== undefined) {
      counts[severity] = (counts[severity] ?? 0) + entries;
      return false;
    }
    const fresh = new Array<number>(KINDS).fill(0);
    fresh[severity] = entries;
    this.#minutes.set(minute, fresh);
    return true;
  }

  /** The minutes in their order, and how many entries of each severity they have. */
  rows(): [number, readonly number[]][] {
    return [...this.#minutes].sort(([a], [b]) => a - b);
  }

  clear(): void {
    this.#minutes.clear();
  }

  write(to: ByteWriter): void {
    to.count(this.#minutes.size);
    let before = 0;
    for (const [minute, counts] of this.rows()) {
      to.signed(minute - before);
      before = minute;
      to.count(counts.reduce((mask, count, kind) => (count > 0 ? mask | (1 << kind) : mask), 0));
      for (const count of counts) if (count > 0) to.count(count);
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader, most: number): MinuteCounts {
    const read = new MinuteCounts();
    let minute = 0;
    for (let left = from.count(most); left > 0; left--) {
      minute += from.signed();
      const mask = from.count(MOST_MASK);
      read.#minutes.set(
        minute,
        Array.from({ length: KINDS }, (_none, kind) => ((mask & (1 << kind)) === 0 ? 0 : from.count())),
      );
    }
    return read;
  }
}

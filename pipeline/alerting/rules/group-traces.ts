import type { ShownTraces } from '../../processors/rules/record-rows.ts';

/** Traces of each kind that are kept of a group and window. */
const MOST = 5;

/** A trace, and how long its slowest span that matched took, nanoseconds. */
type Slow = readonly [trace: string, took: number];

/** The traces that show what a group of a rule over spans is about: those of the slowest spans, and the last ones that failed. */
export class GroupTraces {
  #slow: readonly Slow[] = [];
  #failed: readonly string[] = [];

  /** The slowest first. */
  get slow(): readonly Slow[] {
    return this.#slow;
  }

  get failed(): readonly string[] {
    return this.#failed;
  }

  /** Adds what a partition reports. */
  add([slowest, took, failed]: ShownTraces): void {
    const known = this.#slow.find(([trace]) => trace === slowest);
    const others = this.#slow.filter((one) => one !== known);
    this.#slow = [...others, [slowest, Math.max(took, known?.[1] ?? 0)] as const].sort(([, a], [, b]) => b - a).slice(0, MOST);
    if (failed !== '') this.#failed = [...this.#failed.filter((trace) => trace !== failed), failed].slice(-MOST);
  }

  toJSON(): unknown {
    return [this.#slow, this.#failed];
  }

  /** What `toJSON` gave; null for nothing. */
  static from(json: unknown): GroupTraces | null {
    if (json === undefined || json === null) return null;
    const read = new GroupTraces();
    [read.#slow, read.#failed] = json as [Slow[], string[]];
    return read;
  }
}

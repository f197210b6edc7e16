import type { Violation } from './verdict.ts';

/** What comes from a tail, whatever carries it. */
export type TailEvent =
  | { readonly kind: 'entry'; readonly uid: string; readonly position?: string }
  | { readonly kind: 'position'; readonly position: string }
  | { readonly kind: 'dropped'; readonly count: number }
  | { readonly kind: 'cut' };

/** Entries of connections that went on one where the other was, from one place in the log to another. */
export type Chain = {
  readonly begin: string;
  readonly end: string;
  readonly uids: readonly string[];
  /** Of how many entries it was told that they do not come. */
  readonly told: number;
};

/** Where an entry lies, as the table says. */
export type Row = { readonly uid: string; readonly partition: number; readonly offset: number; readonly index: number };

const PLACE = 'p~';

/** Keeps what a client may take for sure: what came before a position that it was told. The rest comes again after a cut. */
export class TailLog {
  readonly #chains: Chain[] = [];
  #begin: string | null = null;
  #position: string | null = null;
  #end: string | null = null;
  #sure: string[] = [];
  #told = 0;
  /** How many entries, and how many that do not come, there were at the last place in the log. */
  #atEnd = { uids: 0, told: 0 };
  #pending: string[] = [];
  #pendingTold = 0;

  /** Where to go on; null for a new beginning. */
  get position(): string | null {
    return this.#position;
  }

  /** True while it follows the log, and is not among stored entries. */
  get isLive(): boolean {
    return this.#position?.startsWith(PLACE) === true;
  }

  get size(): number {
    return this.#sure.length;
  }

  take(event: TailEvent): void {
    if (event.kind === 'entry') this.#pending.push(event.uid);
    if (event.kind === 'dropped') this.#pendingTold += event.count;
    if (event.kind === 'cut') this.#close();
    else if (event.kind !== 'dropped' && event.position !== undefined) this.#reach(event.position);
  }

  /** The connection is gone: what came behind the last position comes again. */
  cut(): void {
    [this.#pending, this.#pendingTold] = [[], 0];
  }

  /** All that was followed. */
  chains(): readonly Chain[] {
    this.#close();
    return this.#chains;
  }

  #reach(position: string): void {
    this.#sure.push(...this.#pending);
    this.#told += this.#pendingTold;
    this.cut();
    this.#position = position;
    if (!this.isLive) return;
    this.#begin ??= position;
    this.#end = position;
    this.#atEnd = { uids: this.#sure.length, told: this.#told };
  }

  /** More was stored than a tail is given: what comes now has no seam. */
  #close(): void {
    if (this.#begin !== null && this.#end !== null) {
      const { uids, told } = this.#atEnd;
      this.#chains.push({ begin: this.#begin, end: this.#end, uids: this.#sure.slice(0, uids), told });
    }
    [this.#begin, this.#end, this.#position, this.#sure, this.#told] = [null, null, null, [], 0];
    this.#atEnd = { uids: 0, told: 0 };
    this.cut();
  }
}

/** What a chain lacks, has twice, or has though it lies elsewhere, by what the table says. */
export function tailFaults(name: string, { begin, end, uids, told }: Chain, rows: readonly Row[]): Violation[] {
  const [from, until] = [placeOf(begin), placeOf(end)];
  const expected = new Set(rows.filter((row) => !isBefore(row, from) && isBefore(row, until)).map(({ uid }) => uid));
  const seen = new Set<string>();
  const twice = uids.filter((uid) => seen.size === seen.add(uid).size);
  const strange = [...seen].filter((uid) => !expected.has(uid));
  const missing = [...expected].filter((uid) => !seen.has(uid));
  return [
    violation(`an entry did not come (${name})`, missing.length > told ? missing : []),
    violation(`an entry came twice (${name})`, twice),
    violation(`an entry came that is not between the positions of its tail (${name})`, strange),
  ].filter(({ count }) => count > 0);
}

const violation = (check: string, examples: readonly unknown[]): Violation => ({
  check,
  count: examples.length,
  examples: examples.slice(0, 20),
});

type Place = readonly (readonly [offset: number, index: number])[];

/** Reads a position in the log: `p~`, and of each partition an offset and an index, in base 36. */
const placeOf = (position: string): Place =>
  position
    .slice(PLACE.length)
    .split('_')
    .map((part) => {
      const [offset = '', index = '0'] = part.split('.');
      return [parseInt(offset, 36), parseInt(index, 36)];
    });

function isBefore({ partition, offset, index }: Row, place: Place): boolean {
  const [next, entry] = place[partition] ?? [0, 0];
  return offset < next || (offset === next && index < entry);
}

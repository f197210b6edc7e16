/** What must be stored of a record, as Kafka has it. */
export type Expected = {
  readonly offset: number;
  /** Append time, milliseconds. */
  readonly timestamp: number;
  /** Entries in it; null for a record that cannot be read. */
  readonly count: number | null;
  /** When each entry is old enough to be dropped from the table, milliseconds; null where none is. */
  readonly ends: readonly number[] | null;
  /** It is a dead letter. Its entries may be stored all the same, by a replay. */
  readonly isDead: boolean;
};

/** What is stored of a record. */
export type Stored = {
  readonly offset: number;
  /** Append time, milliseconds. */
  readonly timestamp: number;
  readonly rows: number;
  /** Different indexes among the rows, and the highest one. */
  readonly distinct: number;
  readonly last: number;
};

/** Entries of one record, by what became of them; `doubled` counts copies beyond the first. */
export type Verdict = {
  readonly lost: number;
  readonly doubled: number;
  /** Rows for which Kafka has no entry. */
  readonly stray: number;
  readonly agedOut: number;
  readonly deadLettered: number;
};

/** A clock that is ahead drops entries a little before we expect it. Milliseconds. */
const SLACK_MS = 300_000;

/** What a record that cannot be read, and is not a dead letter, counts as: its number of entries is unknown. */
const UNREADABLE: Verdict = { lost: 1, doubled: 0, stray: 0, agedOut: 0, deadLettered: 0 };

/** True when each entry of the record is stored once, and nothing else. */
export function isWhole({ count, isDead }: Expected, stored: Stored | undefined): boolean {
  if (count === null) return isDead && (stored === undefined || stored.rows === stored.distinct);
  return stored === undefined ? count === 0 : stored.rows === count && stored.distinct === count && stored.last === count - 1;
}

/** What became of the entries of a record, of which `copies` has how often each index is stored. `now` in milliseconds. */
export function judge({ count, ends, isDead }: Expected, copies: ReadonlyMap<number, number>, now: number): Verdict {
  if (count === null && !isDead) return UNREADABLE;
  const known = count ?? Infinity;
  let [doubled, stray, missing, agedOut] = [0, 0, 0, 0];
  for (const [index, rows] of copies) {
    if (index >= known) stray += rows;
    else doubled += rows - 1;
  }
  for (let index = 0; index < (count ?? 0); index++) {
    if (copies.has(index)) continue;
    if ((ends?.[index] ?? Infinity) <= now + SLACK_MS) agedOut += 1;
    else missing += 1;
  }
  return { lost: isDead ? 0 : missing, doubled, stray, agedOut, deadLettered: isDead ? missing : 0 };
}

import { ClickHouseError } from '@clickhouse/client';
import { ended, reasonOf } from '../pipeline/core/connection-reason.ts';

/** What ClickHouse means by the errors that an operator has to end. */
const REASONS: Readonly<Record<string, string>> = {
  '164': 'it is read-only',
  '242': 'the table is read-only',
  '774': 'the table is read-only',
  '243': 'its disk is full',
  '241': 'it lacks the memory',
  '252': 'the table has too many parts',
  '497': 'the user lacks a right',
  '516': 'it does not know the user, or the password is another',
  '60': 'the table is missing',
};
/** One failure that the next attempt mends is no warning. Milliseconds. */
const LASTING_MS = 3000;

export type FailingInsertsOptions = {
  /** Is given whether inserts into a table fail. */
  readonly onChange?: (table: string, isFailing: boolean) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** The tables that ClickHouse takes no inserts into, and why: for the warnings of `/ready`. */
export class FailingInserts {
  readonly #options: FailingInsertsOptions;
  readonly #now: () => number;
  readonly #tables = new Map<string, { readonly since: number; reason: string }>();

  constructor(options: FailingInsertsOptions = {}) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  failed(table: string, error: unknown): void {
    const reason = whyOf(error);
    const known = this.#tables.get(table);
    if (known !== undefined) known.reason = reason;
    else {
      this.#tables.set(table, { since: this.#now(), reason });
      this.#options.onChange?.(table, true);
    }
  }

  stored(table: string): void {
    if (this.#tables.delete(table)) this.#options.onChange?.(table, false);
  }

  /** A sentence about each reason that lasts; null where there is none. */
  get warning(): string | null {
    const byReason = new Map<string, { readonly tables: string[]; since: number }>();
    for (const [table, { since, reason }] of this.#tables) {
      if (this.#now() - since < LASTING_MS) continue;
      const one = byReason.get(reason) ?? { tables: [], since };
      byReason.set(reason, one);
      one.tables.push(table);
      one.since = Math.min(one.since, since);
    }
    const sentences = [...byReason].map(
      ([reason, { tables, since }]) =>
        `ClickHouse takes no inserts into ${tables.sort().join(', ')} since ${new Date(since).toISOString().slice(0, 19)}Z: ${ended(reason)}`,
    );
    return sentences.length === 0 ? null : sentences.join(' ');
  }
}

function whyOf(error: unknown): string {
  if (!(error instanceof ClickHouseError)) return reasonOf(error);
  const known = REASONS[error.code];
  const text = `${error.type ?? 'error'} (${error.code})`;
  return known === undefined ? `${text}: ${error.message.slice(0, 300)}` : `${known}: ${text}`;
}

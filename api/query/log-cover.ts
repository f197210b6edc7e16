import type { Logger } from 'pino';
import { sql, uint64s, type Sql } from '../../pipeline/core/sql.ts';
import { withTimeout } from '../../pipeline/bus/connection/with-timeout.ts';
import type { Row } from '../../pipeline/store/client.ts';
import type { CoveredPartition, VolumeCover } from '../../logsql/planner/volume.ts';
import { SPANS } from '../../logsql/sql/counts.ts';

/** Offsets from Kafka by partition, dense from 0 on. */
export type LogPositions = {
  /** Before which `logs` has stored all, and behind the last record of the log. */
  readonly stored: readonly number[];
  readonly ends: readonly number[];
  /** Of `counters.v1`, before which `volume` has stored all. */
  readonly counted: readonly number[];
};

/** Of which tenants records could not be stored, or of which that is not known. */
export type Refused = { readonly tenants: ReadonlySet<number>; readonly isUnknown: boolean };

export type LogCoverOptions = {
  readonly positions: () => Promise<LogPositions>;
  /** Called after `positions`: all that was refused before these is known then. */
  readonly refused: () => Promise<Refused>;
  /** Rows that belong to no tenant. */
  readonly rows: (statement: Sql) => Promise<readonly Row[]>;
  readonly log: Logger;
  /** Since the epoch, milliseconds. */
  readonly now?: () => number;
  /** How long what is much too old is waited for; milliseconds, 500 if not given. */
  readonly waitMs?: number;
};

/** Age at which it is read again while the old one serves; age at which a query waits for a new one, WAIT_MS by default. Milliseconds. */
const FRESH_MS = 3000;
const OLD_MS = 300_000;
const WAIT_MS = 500;

type Unpublished = ReadonlyMap<number, NonNullable<VolumeCover['unpublished']>>;
type Known = { readonly at: number; readonly cover: VolumeCover | null; readonly unpublished: Unpublished; readonly refused: Refused };

/**
 * How far the log is counted in `volume`, of what is stored in `logs` (docs/adr/0023-one-reader-for-every-processor.md). It is read on
 * demand. An older answer is as exact as a new one: what came since then is counted by its entries.
 */
export class LogCover {
  readonly #options: LogCoverOptions;
  readonly #now: () => number;
  #known: Known | null = null;
  #pending: Promise<void> | null = null;

  constructor(options: LogCoverOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** For the queries of a tenant; null where its entries must be counted themselves. Never rejects. */
  async of(tenantId: number): Promise<VolumeCover | null> {
    const age = this.#now() - (this.#known?.at ?? -Infinity);
    if (age >= FRESH_MS || age < 0) this.#pending ??= this.#query();
    if (age >= OLD_MS && this.#pending !== null) await withTimeout(this.#options.waitMs ?? WAIT_MS, this.#pending).catch(() => undefined);
    const known = this.#known;
    // what could not be stored is counted all the same
    if (known === null || known.cover === null || known.refused.isUnknown || known.refused.tenants.has(tenantId)) return null;
    const unpublished = known.unpublished.get(tenantId);
    return unpublished === undefined ? known.cover : { ...known.cover, unpublished };
  }

  async #query(): Promise<void> {
    const at = this.#now();
    const { positions, refused, rows, log } = this.#options;
    try {
      const found = await positions();
      const without = await refused();
      const [closingRows, unpublished] = await Promise.all([rows(closings(found)), rows(unpublishedTenants(found))]);
      this.#known = { at, cover: coverOf(closingRows, found, at), unpublished: new Map(unpublished.map(unpublishedOf)), refused: without };
    } catch (error) {
      log.debug({ err: error }, 'The position of the counters in the log is unknown; entries are counted instead.');
    } finally {
      this.#pending = null;
    }
  }
}

/** Of what is stored. */
const isStored = ({ counted, stored }: LogPositions): Sql =>
  sql`kafka_off < arrayElement(${uint64s(counted)}, log_part + 1) AND until <= arrayElement(${uint64s(stored)}, log_part + 1)`;

/** Tenants that some segments do not count, and between which times these have entries of them. */
const unpublishedTenants = (positions: LogPositions): Sql =>
  sql`SELECT stream_id, min(toUnixTimestamp64Second(time) - toInt64(entries)), max(toUnixTimestamp64Second(time) + span) FROM volume
    WHERE tenant_id = 0 AND scope = 4 AND ${isStored(positions)} GROUP BY stream_id`;

const unpublishedOf = ([tenant, start, end]: Row): [number, { start: number; end: number }] => [
  Number(tenant),
  { start: Number(start), end: Number(end) },
];

/** The closings of each run of each partition, as far as all of it is stored. */
function closings(positions: LogPositions): Sql {
  const earliest = sql`(until, -toUnixTimestamp64Milli(arrived))`;
  return sql`SELECT log_part, run, max(kafka_off), argMax(entries, kafka_off), maxIf(until, span = 86400), maxIf(until, span >= 3600), max(until),
    toUnixTimestamp64Second(argMax(time, (until, time))), countIf(span = 86400), toUnixTimestamp64Milli(argMaxIf(arrived, ${earliest}, span = 86400)),
    countIf(span >= 3600), toUnixTimestamp64Milli(argMaxIf(arrived, ${earliest}, span >= 3600)), toUnixTimestamp64Milli(min(arrived))
    FROM volume WHERE tenant_id = 0 AND scope = 3 AND ${isStored(positions)}
    GROUP BY log_part, run`;
}

type Closing = CoveredPartition & { readonly last: number; readonly closedAt: number; readonly behind: VolumeCover['behind'] };

function closingOf([, run, last, base, days, hours, minutes, closedAt, dayCount, daysAt, hourCount, hoursAt, firstAt]: Row): Closing {
  const behind = (count: unknown, at: unknown): number => Number(Number(count) === 0 ? firstAt : at);
  return {
    ...{ run: Number(run), last: Number(last), base: Number(base), closedAt: Number(closedAt) * 1000 },
    until: { 86400: Number(days), 3600: Number(hours), 60: Number(minutes) },
    behind: { 86400: behind(dayCount, daysAt), 3600: behind(hourCount, hoursAt), 60: 0 },
  };
}

/** Null where a partition that has records has no closing. */
function coverOf(rows: readonly Row[], { ends }: LogPositions, now: number): VolumeCover | null {
  const empty = (): Closing => ({
    ...{ run: 0, last: 0, base: 0, closedAt: now },
    ...{ until: { 86400: 0, 3600: 0, 60: 0 }, behind: { 86400: now, 3600: now, 60: 0 } },
  });
  const partitions = ends.map((end, partition) => {
    const runs = rows.filter(([of]) => Number(of) === partition).map(closingOf);
    const [latest] = runs.sort((a, b) => b.last - a.last);
    return latest ?? (end === 0 ? empty() : null);
  });
  if (!partitions.every((partition) => partition !== null)) return null;
  const least = (of: (closing: Closing) => number): number => Math.min(...partitions.map(of));
  return {
    partitions: partitions.map(({ run, base, until }) => ({ run, base, until })),
    since: least(({ closedAt }) => closedAt),
    runs: Math.max(...partitions.map(({ run }) => run)),
    behind: Object.fromEntries(SPANS.map((span) => [span, least(({ behind }) => behind[span])])) as VolumeCover['behind'],
  };
}

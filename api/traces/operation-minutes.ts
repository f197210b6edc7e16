import { conjunction, sql, texts, uint32, uint64s, type Sql } from '../../pipeline/core/sql.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { countedRows, OF_OPERATION, uncountedIn } from './derived.ts';
import type { Span } from './span-filter.ts';

/** What spans are looked at: those of some services and kinds, as OTLP numbers these, by service or by operation. */
export type WantedSpans = {
  /** Null: all. */
  readonly services: readonly string[] | null;
  readonly kinds: readonly number[];
  readonly byOperation: boolean;
  /** Kinds apart; together where it is left out. */
  readonly byKind?: boolean;
  readonly withDurations: boolean;
};

/** What a minute has of a service or an operation. `durations`: how many by bin (pipeline/core/duration-bins.ts), where they are wanted. */
export type OperationMinute = {
  readonly service: string;
  /** Empty where all are together. */
  readonly operation: string;
  /** As OTLP numbers it; 0 where all are together. */
  readonly kind: number;
  /** When it begins: seconds since 1970. */
  readonly minute: number;
  readonly spans: number;
  readonly errors: number;
  /** Nanoseconds of all of them. */
  readonly duration: number;
  readonly durations: readonly (readonly [bin: number, count: number])[];
};

/** Rows of an answer. */
const MAX_MINUTES = 300_000;

/** The bin of a duration, as `durationBin` has it but for what lies next to an end. */
const BIN = sql`if(duration = 0, toUInt16(0), toUInt16(ceil(log2(duration) * 8 - 0.000000001)) + 1)`;

/** Requests, errors and durations by minute, in the order of the minutes, with what is not counted yet; null where there are more than `MAX_MINUTES`. */
export async function operationMinutes(wanted: WantedSpans, window: Span, request: Request, deps: Deps): Promise<OperationMinute[] | null> {
  const cover = await deps.spanCovers.of(request, deps);
  const ofKinds = sql`kind IN ${uint64s(wanted.kinds)}`;
  const own = wanted.services === null ? ofKinds : sql`service IN ${texts(wanted.services)} AND ${ofKinds}`;
  const bins = (of: Sql): Sql => (wanted.withDurations ? of : sql`map(toUInt16(0), toUInt64(0))`);
  const kind = wanted.byKind === true ? sql`toUInt8(kind)` : sql`toUInt8(0)`;
  const operation = (of: Sql): Sql => (wanted.byOperation ? of : sql`''`);
  // equal rows are the same one, which was written twice
  const once = sql`SELECT service, operation, kind, time, any(duration) AS total, any(spans) AS n, any(errors) AS wrong, any(durations) AS d FROM ${countedRows(sql`service, operation, kind, time, retention_days, log_part, segment, spans, errors, duration, durations`, window, cover, { scopes: [OF_OPERATION], request, more: own, finest: true })} GROUP BY service, operation, kind, time, retention_days, log_part, segment`;
  const counted = sql`SELECT toString(service) AS s, ${operation(sql`toString(operation)`)} AS o, ${kind} AS k, toUnixTimestamp(time) AS m, total, n, wrong, ${bins(sql`d`)} AS b FROM (${once})`;
  const others = sql`SELECT toString(service) AS s, ${operation(sql`toString(name)`)} AS o, ${kind} AS k, intDiv(toUnixTimestamp(time), 60) * 60 AS m, toFloat64(sum(duration)) AS total, count() AS n, countIf(status = 2) AS wrong, ${bins(sql`sumMap(map(${BIN}, toUInt64(1)))`)} AS b FROM spans WHERE ${conjunction([uncountedIn(window, cover, request), own])} GROUP BY s, o, k, m`;
  const rows = await tenantRows(
    sql`SELECT s, o, k, m, sum(n), sum(wrong), sum(total), mapKeys(sumMap(b) AS all), mapValues(all) FROM (${counted} UNION ALL ${others}) GROUP BY s, o, k, m ORDER BY m, s, o, k LIMIT ${uint32(MAX_MINUTES + 1)}`,
    request,
    deps,
  );
  if (rows.length > MAX_MINUTES) return null;
  return rows.map(([service, name, ofKind, minute, spans, errors, duration, keys, counts]) => ({
    ...{ service: String(service), operation: String(name), kind: Number(ofKind), minute: Number(minute) },
    ...{ spans: Number(spans), errors: Number(errors), duration: Number(duration) },
    durations: numbersOf(keys).map((bin, index) => [bin, numbersOf(counts)[index] ?? 0] as const),
  }));
}

const numbersOf = (value: unknown): number[] => (value as readonly unknown[]).map(Number);

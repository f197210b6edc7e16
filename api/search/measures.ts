import { invalidParameter } from '../../pipeline/core/errors.ts';
import { int64, join, sql, text, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { formatTime, MAX_TIME, MIN_TIME } from '../../pipeline/core/time.ts';
import type { Row } from '../../pipeline/store/client.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { MeasuresParameters } from '../query/parameters.ts';
import { readWindow, windowMember, type Window } from '../query/window.ts';

/** Points of one answer. */
const MAX_POINTS = 50_000;
const SECOND = 1_000_000_000n;

/**
 * `GET /measures`: what processors have measured, by series: name, labels and span, with the last word on each span of time that begins in the
 * window. Series in the order of name, labels and span; points by time. Throws HttpError 400 for more than 50,000 points.
 */
export async function measures(parameters: MeasuresParameters, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const { store, options } = deps.runner(request);
  const rows = await store.rows(statement(parameters, window, request.tenantId), options);
  if (rows.length > MAX_POINTS)
    throw invalidParameter(`The answer has more than ${String(MAX_POINTS)} points: narrow start and end, or give a name, a service or a label.`); // prettier-ignore
  const series = new Map<string, string[]>();
  for (const row of rows) {
    const { key, point } = render(row);
    const points = series.get(key);
    if (points === undefined) series.set(key, [point]);
    else points.push(point);
  }
  return `{"measures":[${[...series].map(([key, points]) => `{${key},"points":[${points.join(',')}]}`).join(',')}],${windowMember(window)}}`;
}

/** A measure is published again as it changes: of each the row with the highest version, and of one record the last one. */
function statement({ name, labels }: MeasuresParameters, window: Window, tenantId: number): Sql {
  const conditions = [
    sql`tenant_id = ${uint32(tenantId)}`,
    ...(name === null ? [] : [sql`name = ${text(name)}`]),
    sql`time >= toDateTime64(${int64(-(-within(window.start) / SECOND))}, 0, 'UTC')`,
    sql`time <= toDateTime64(${int64(within(window.end) / SECOND)}, 0, 'UTC')`,
    ...labels.map(([label, value]) => sql`labels[${text(label)}] = ${text(value)}`),
  ];
  return sql`SELECT name, mapKeys(labels) AS names, mapValues(labels) AS texts, span, toString(reinterpretAsInt64(time)) AS seconds, argMax(value, (version, kafka_idx)) FROM measures WHERE ${join(conditions, sql` AND `)} GROUP BY name, names, texts, span, time ORDER BY name, names, texts, span, time LIMIT ${uint32(MAX_POINTS + 1)}`;
}

/** A time that the table can have. */
const within = (time: bigint): bigint => (time < MIN_TIME ? MIN_TIME : time > MAX_TIME ? MAX_TIME : time);

/** The members that identify a series, and its point, as JSON. */
function render([name, names, values, span, seconds, value]: Row): { readonly key: string; readonly point: string } {
  const labels = (names as string[]).map((label, index) => `${JSON.stringify(label)}:${JSON.stringify((values as string[])[index])}`);
  return {
    key: `"name":${JSON.stringify(name)},"labels":{${labels.join(',')}},"span":${String(span)}`,
    point: `[${JSON.stringify(formatTime(BigInt(String(seconds)) * SECOND))},${String(value)}]`,
  };
}

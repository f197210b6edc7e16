import { invalidParameter } from '../../pipeline/core/errors.ts';
import { conjunction, ofTenant, sql, text, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import type { Row } from '../../pipeline/store/client.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { MeasuresParameters } from '../query/parameters.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { readWindow, windowMember, type Window } from '../query/window.ts';
import { notAfter, notBefore } from './time-bounds.ts';

/** Points of one answer. */
const MAX_POINTS = 50_000;
const SECOND = 1_000_000_000n;

/**
 * `GET /measures`: what processors have measured, by series: name, labels and span, with the last word on each span of time that begins in the
 * window. Series in the order of name, labels and span; points by time. Throws HttpError 400 for more than 50,000 points.
 */
export async function measures(parameters: MeasuresParameters, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const rows = await tenantRows(statement(parameters, window, request.tenantId), request, deps);
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
    ofTenant(tenantId),
    ...(name === null ? [] : [sql`name = ${text(name)}`]),
    notBefore(sql`time`, window.start),
    notAfter(sql`time`, window.end),
    ...labels.map(([label, value]) => sql`labels[${text(label)}] = ${text(value)}`),
  ];
  return sql`SELECT name, mapKeys(labels) AS names, mapValues(labels) AS texts, span, toString(reinterpretAsInt64(time)) AS seconds, argMax(value, (version, kafka_idx)) FROM measures WHERE ${conjunction(conditions)} GROUP BY name, names, texts, span, time ORDER BY name, names, texts, span, time LIMIT ${uint32(MAX_POINTS + 1)}`;
}

/** The members that identify a series, and its point, as JSON. */
function render([name, names, values, span, seconds, value]: Row): { readonly key: string; readonly point: string } {
  const labels = (names as string[]).map((label, index) => `${JSON.stringify(label)}:${JSON.stringify((values as string[])[index])}`);
  return {
    key: `"name":${JSON.stringify(name)},"labels":{${labels.join(',')}},"span":${String(span)}`,
    point: `[${JSON.stringify(formatTime(BigInt(String(seconds)) * SECOND))},${String(value)}]`,
  };
}

import { conjunction, int64, ofTenant, sql, text, texts, uint32, type Sql } from '../../pipeline/core/sql.ts';
import type { Deps, Request } from '../query/deps.ts';
import { startOfNewest } from '../query/slices.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { WHOLE_RESOURCE } from './stored-span.ts';
import { filterConditions, isInSomeResource, isWithin, keyOf, lookedUp, type SpanFilter, type Span } from './span-filter.ts';

/** The place of a trace among those that were found: when the newest of its matching spans begins (nanoseconds, digits), and its id. */
export type Cursor = { readonly time: string; readonly id: string };

/** Resources that have a tag which a statement names; with more of them it looks at each resource itself. */
const MOST_RESOURCES = 1000;
/** Bytes of them that one value of a statement holds for certain: ClickHouse takes 128 KiB. What each takes in addition: quotes, a comma, space for escapes. */
const VALUE_BYTES = 60_000;
const PER_TEXT = 3;

/**
 * Traces with a span that a filter matches in a span of time, newest first by these spans; those behind a place. Inside a service the rows
 * are read newest first, and no further than needed.
 */
export async function findTraces(
  {
    filter,
    span,
    limit,
    after,
  }: { readonly filter: SpanFilter; readonly span: Span; readonly limit: number; readonly after: Cursor | null },
  request: Request,
  deps: Deps,
): Promise<Cursor[]> {
  const own = [ofTenant(request.tenantId), ...filterConditions(filter, await resourcesOf(filter, span, request, deps))];
  const read = async (start: bigint): Promise<Cursor[]> => {
    const end = after === null ? span.end : timeOf(after, span);
    const where = conjunction([...own, isWithin({ start, end }), ...(after === null ? [] : behind(after, own, span))]);
    const statement = sql`SELECT toString(reinterpretAsInt64(time)), lower(hex(trace_id)) FROM spans WHERE ${where} ORDER BY time DESC, trace_id DESC LIMIT 1 BY trace_id LIMIT ${uint32(limit)}`;
    return (await tenantRows(statement, request, deps)).map(([time, id]) => ({ time: String(time), id: String(id) }));
  };
  // without a service the newest ones are not first in the table: where the end of the window has enough, the rest is not read
  if (filter.service === null && filter.tags.length === 0) {
    const end = after === null ? span.end : timeOf(after, span);
    const newest = await read(startOfNewest({ start: span.start, end }));
    if (newest.length === limit) return newest;
  }
  return read(span.start);
}

const timeOf = ({ time }: Cursor, { end }: Span): bigint => (BigInt(time) < end ? BigInt(time) : end);

/** Rows behind a place, but those of traces that have a matching row at it or before: these were on a page before. */
function behind({ time, id }: Cursor, own: readonly Sql[], span: Span): Sql[] {
  const place = sql`(reinterpretAsInt64(time), trace_id)`;
  const at = sql`(${int64(BigInt(time))}, toFixedString(unhex(${text(id)}), 16))`;
  const shown = conjunction([
    ...own,
    isWithin({ start: BigInt(time) > span.start ? BigInt(time) : span.start, end: span.end }),
    sql`${place} >= ${at}`,
  ]);
  return [sql`${place} < ${at}`, sql`trace_id NOT IN (SELECT trace_id FROM spans WHERE ${shown})`];
}

/** The conditions that resources have a tag, by the key of the tag; null where nothing has it. Only inside a service are all looked at. */
async function resourcesOf(filter: SpanFilter, span: Span, request: Request, deps: Deps): Promise<ReadonlyMap<string, Sql>> {
  const tags = lookedUp(filter);
  if (tags.length === 0) return new Map();
  const lists = tags.map(([name, value]) => sql`arrayFilter(one -> ${isInSomeResource(sql`one`, name, value)}, all)`);
  const where = conjunction([
    ofTenant(request.tenantId),
    ...(filter.service === null ? [] : [sql`service = ${text(filter.service)}`]),
    isWithin(span),
  ]);
  const found = sql`(SELECT (groupUniqArray(${uint32(MOST_RESOURCES + 1)})(resource), countIf(notEmpty(long_resource))) FROM spans WHERE ${where})`;
  const [row] = await tenantRows(
    sql`WITH ${found} AS found, found.1 AS all SELECT length(all), found.2, ${lists.reduce((list, one) => sql`${list}, ${one}`)}`,
    request,
    deps,
  );
  const isMany = Number(row?.[0]) > MOST_RESOURCES || Number(row?.[1]) > 0;
  return new Map(
    tags.flatMap((tag, index): [string, Sql][] => {
      const having = row?.[index + 2] as string[];
      const bytes = having.reduce((sum, resource) => sum + Buffer.byteLength(resource) + PER_TEXT, 0);
      if (isMany || bytes > VALUE_BYTES) return [[keyOf(tag), isInSomeResource(WHOLE_RESOURCE, ...tag)]];
      return having.length === 0 ? [] : [[keyOf(tag), sql`resource IN ${texts(having)}`]];
    }),
  );
}

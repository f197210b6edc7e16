import { SEVERITIES } from '../../../pipeline/core/severity.ts';
import { conjunction, int64, ofTenant, sql, text, uint32, type Sql } from '../../../pipeline/core/sql.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import type { Row } from '../../../pipeline/store/client.ts';
import type { Deps, Request } from '../deps.ts';
import { tenantRows } from '../tenant-rows.ts';
import { windowMember, type Window } from '../window.ts';
import { latestPatterns, numbersOf, ofService, OVERFLOW, patternCounts, ROOT, sinceWindow } from './counts.ts';
import type { PatternsParameters } from './parameters.ts';
import { textsOf, type PatternText } from './texts.ts';

const SECOND = 1_000_000_000n;
const MS = 1_000_000n;
/** Equal parts of the window, each with its number of entries. */
const PARTS = 24;
/** Most streams that a pattern is shown with, those with most hits first; and most fingerprints of its cluster. */
const MOST_STREAMS = 100;
const MOST_ALIASES = 100;

/** A cluster as a statement found it. */
type Found = {
  readonly root: string;
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly first: bigint;
  readonly last: bigint;
  /** Fingerprints of the cluster, by their order. */
  readonly members: readonly string[];
  readonly level: string;
  readonly trend: readonly number[];
};

/** A Pattern as an answer has it. */
export type ShownPattern = {
  readonly fingerprint: string;
  readonly normalized_message: string;
  readonly example_raw_message?: string;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly count: number;
  readonly streams: readonly string[];
  readonly level: string;
  readonly trend: readonly number[];
  readonly is_new: boolean;
  readonly aliases: readonly string[];
};

/** `GET /patterns`: the clusters of which entries came since then, with how many came. */
export async function listPatterns(parameters: PatternsParameters, request: Request, deps: Deps): Promise<string> {
  const window = sinceWindow(parameters.since, request, deps);
  const { patterns, hasMore } = await findPatterns(parameters, window, request, deps);
  return `{"patterns":${JSON.stringify(patterns)},"has_more":${String(hasMore)},${windowMember(window)}}`;
}

/** A page of the clusters; with `root`, of this one alone. */
export async function findPatterns(
  parameters: Omit<PatternsParameters, 'since'> & { readonly root?: string },
  window: Window,
  request: Request,
  deps: Deps,
): Promise<{ readonly patterns: readonly ShownPattern[]; readonly hasMore: boolean }> {
  const rows = await tenantRows(statement(parameters, window, request.tenantId), request, deps);
  const found = rows.slice(0, parameters.limit).map(foundOf);
  const roots = found.map(({ root }) => root);
  const [texts, streams] = await Promise.all([
    textsOf(roots, request, deps),
    streamsOf(found, { window, service: parameters.service }, request, deps),
  ]);
  const patterns = found.map((one) => shown(one, texts.get(one.root), streams.get(one.root) ?? [], window));
  return { patterns, hasMore: rows.length > parameters.limit };
}

const ORDERS: Readonly<Record<PatternsParameters['sort'], Sql>> = { count: sql`n`, first_seen: sql`seen`, last_seen: sql`latest` };

function statement(
  { sort, order, search, service, limit, offset, root }: Parameters<typeof findPatterns>[0],
  window: Window,
  tenantId: number,
): Sql {
  const isCounted = service === null ? sql`1` : ofService(tenantId, service);
  const start = window.start / SECOND;
  const length = window.end / SECOND - start + 1n;
  // the part of the window that a row lies in; what is behind the window lies in the last one
  const part = sql`toUInt8(least(${uint32(PARTS - 1)}, greatest(0, intDiv((toUnixTimestamp64Second(time) - ${int64(start)}) * ${uint32(PARTS)}, ${int64(length)}))))`;
  const byPattern = sql`SELECT pattern, sumIf(entries, ok) AS n, min(first_ms) AS first, max(last_ms) AS last, max(arrived) AS arrived, sumMapIf([severity], [entries], ok) AS severities, sumMapIf([part], [entries], ok) AS parts FROM (SELECT *, ${isCounted} AS ok, ${part} AS part FROM ${patternCounts(tenantId, { ...window, isOpen: true })}) GROUP BY pattern`;
  const conditions = [
    root === undefined ? sql`root != ''` : sql`root = ${text(root)}`,
    ...(search === null
      ? []
      : [
          sql`root IN (SELECT fingerprint FROM patterns WHERE ${ofTenant(tenantId)} AND template != '' AND positionCaseInsensitiveUTF8(template, ${text(search)}) > 0)`,
        ]),
  ];
  const direction = order === 'asc' ? sql`ASC` : sql`DESC`;
  // a cluster was seen first when any of its templates was, also those that do not come any more
  const clusters = sql`SELECT root AS cluster, min(first) AS earliest, groupArray(${uint32(MOST_ALIASES)})(fingerprint) AS members FROM ${latestPatterns(tenantId)} GROUP BY cluster`;
  return sql`SELECT root, toString(n), toString(if(any(cluster) = '', min(f), any(earliest)) AS seen), toString(max(l) AS latest), arraySort(any(members)), sumMap(s.1, s.2) AS severities, sumMap(p.1, p.2) AS parts, sum(e) AS n FROM (SELECT ${ROOT} AS root, c.n AS e, c.first AS f, c.last AS l, c.severities AS s, c.parts AS p FROM (${byPattern}) AS c LEFT JOIN ${latestPatterns(tenantId)} AS words ON c.pattern = words.number) AS counted LEFT JOIN (${clusters}) AS whole ON counted.root = whole.cluster WHERE ${conjunction(conditions)} GROUP BY root HAVING n > 0 ORDER BY ${ORDERS[sort]} ${direction}, root LIMIT ${uint32(limit + 1)} OFFSET ${uint32(offset)}`;
}

function foundOf([root, count, first, last, members, severities, parts]: Row): Found {
  const trend = new Array<number>(PARTS).fill(0);
  for (const [part, entries] of pairsOf(parts)) trend[part] = entries;
  const [[severity] = [0]] = pairsOf(severities).sort(([a, less], [b, more]) => more - less || b - a);
  return {
    ...{ root: String(root), count: Number(count), first: BigInt(String(first)), last: BigInt(String(last)), trend },
    ...{ members: (members as unknown[]).map(String), level: SEVERITIES[severity] ?? '' },
  };
}

/** What `sumMap` gives: keys and their sums. */
const pairsOf = (map: unknown): [number, number][] => {
  const [keys, sums] = map as [unknown[], unknown[]];
  return keys.map((key, index) => [Number(key), Number(sums[index])]);
};

/** The label sets of the streams of clusters, by their roots: those with most entries in the window first. */
async function streamsOf(
  found: readonly Found[],
  { window, service }: { readonly window: Window; readonly service: string | null },
  request: Request,
  deps: Deps,
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (found.length === 0) return new Map();
  const { tenantId } = request;
  const members = found.flatMap(({ members: fingerprints }) => fingerprints);
  const only = [
    sql`scope = 0`,
    sql`(pattern IN ${numbersOf(members)} OR pattern = ${OVERFLOW})`,
    ...(service === null ? [] : [ofService(tenantId, service)]),
  ];
  const statementOf = sql`SELECT ${ROOT} AS cluster, toString(stream_id), sum(c.entries) AS n FROM ${patternCounts(tenantId, { ...window, isOpen: true }, only)} AS c LEFT JOIN ${latestPatterns(tenantId)} AS words ON c.pattern = words.number GROUP BY cluster, stream_id ORDER BY n DESC, stream_id LIMIT ${uint32(MOST_STREAMS)} BY cluster`;
  const { store, streams, options } = deps.runner(request);
  const rows = await store.rows(statementOf, options);
  // entries of clocks that are ahead have streams of later days
  const days = { start: window.start, end: window.end + 3n * 86_400n * SECOND };
  const names = await streams.resolve(rows.map(([, id]) => String(id)), days, options); // prettier-ignore
  const byRoot = new Map<string, string[]>();
  for (const [root, id] of rows) {
    const name = names.get(String(id));
    if (name === undefined) continue;
    const own = byRoot.get(String(root));
    if (own === undefined) byRoot.set(String(root), [name]);
    else own.push(name);
  }
  return byRoot;
}

function shown(found: Found, texts: PatternText | undefined, streams: readonly string[], window: Window): ShownPattern {
  const { root, count, first, last, members, level, trend } = found;
  return {
    fingerprint: root,
    normalized_message: texts?.template ?? '',
    ...(texts === undefined || texts.example === '' ? {} : { example_raw_message: texts.example }),
    first_seen: formatTime(first * MS),
    last_seen: formatTime(last * MS),
    count,
    streams,
    ...{ level, trend, is_new: first * MS >= window.start },
    aliases: members.filter((fingerprint) => fingerprint !== root),
  };
}

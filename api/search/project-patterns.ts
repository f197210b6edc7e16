import { Query } from '../../logsql/base/query.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { isEarlier, PatternStreamsPipe } from '../../logsql/pipes/pattern-streams.ts';
import { compareBytes } from '../../logsql/values/order.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { invalidParameter, notFound } from '../../pipeline/core/errors.ts';
import { severityOf } from '../../pipeline/core/severity.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import { rowsOf, type Deps, type Request } from '../query/deps.ts';
import { sinceWindow } from '../query/patterns/counts.ts';
import { comparedWindows } from '../query/patterns/diff-patterns.ts';
import type { PatternDiffParameters, PatternParameters, PatternsParameters } from '../query/patterns/parameters.ts';
import { placeholderValues } from '../query/patterns/placeholder-values.ts';
import { windowMember, type Window } from '../query/window.ts';

/** Templates by stream and level that one answer may count. */
const MOST_GROUPS = 50_000;
/** Streams that a pattern is shown with, those with most entries first; messages whose values are looked at. */
const [MOST_STREAMS, SAMPLED] = [100, 1000];

/** A template with the entries that have it. Times are ISO 8601. */
type Pattern = {
  readonly fingerprint: string;
  readonly template: string;
  readonly example: string;
  count: number;
  first: string;
  last: string;
  readonly levels: Map<string, number>;
  readonly streams: Map<string, number>;
};

/**
 * `GET /patterns` for a key of a project: counted by the entries that it reads. What is known of the tenant's patterns (clusters, examples, when one came
 * first) is of other projects too, and no part of it.
 */
export async function projectPatterns(parameters: PatternsParameters, request: Request, deps: Deps): Promise<string> {
  const { sort, order, search, service, limit, offset, since } = parameters;
  const window = sinceWindow(since, request, deps);
  const wanted = search?.toLowerCase() ?? '';
  const all = (await patternsIn(ofService(service), window, request, deps)).filter(({ template }) =>
    template.toLowerCase().includes(wanted),
  );
  const compared: Readonly<Record<typeof sort, (a: Pattern, b: Pattern) => number>> = {
    count: (a, b) => a.count - b.count,
    first_seen: (a, b) => byTime(a.first, b.first),
    last_seen: (a, b) => byTime(a.last, b.last),
  };
  const sign = order === 'asc' ? 1 : -1;
  all.sort((a, b) => sign * compared[sort](a, b) || compareBytes(a.fingerprint, b.fingerprint));
  const page = all.slice(offset, offset + limit).map(shown);
  return `{"patterns":${JSON.stringify(page)},"has_more":${String(all.length > offset + limit)},${windowMember(window)}}`;
}

/** `GET /patterns/diff` for a key of a project. */
export async function projectPatternsDiff(parameters: PatternDiffParameters, request: Request, deps: Deps): Promise<string> {
  const [a, b] = comparedWindows(parameters, request, deps);
  const query = ofService(parameters.service);
  const [before, after] = await Promise.all([patternsIn(query, a, request, deps), patternsIn(query, b, request, deps)]);
  const ratio = Number(b.end - b.start) / Number(a.end - a.start);
  const counts = new Map<string, { template: string; a: number; b: number }>();
  for (const { fingerprint, template, count } of before) counts.set(fingerprint, { template, a: count, b: 0 });
  for (const { fingerprint, template, count } of after) {
    const known = counts.get(fingerprint);
    if (known === undefined) counts.set(fingerprint, { template, a: 0, b: count });
    else known.b = count;
  }
  // on this scale counts of any size vary by the same
  const change = (one: { readonly a: number; readonly b: number }): number => Math.abs(Math.sqrt(one.b) - Math.sqrt(one.a * ratio));
  const sorted = [...counts].sort(([x, one], [y, other]) => change(other) - change(one) || compareBytes(x, y));
  const shownOf = (isOf: (one: { readonly a: number; readonly b: number }) => boolean): object[] =>
    sorted
      .filter(([, one]) => isOf(one))
      .slice(0, parameters.limit)
      .map(([fingerprint, one]) => ({
        ...{ fingerprint, normalized_message: one.template, a: one.a, b: one.b },
        expected: Math.round(one.a * ratio * 100) / 100,
      }));
  const shownWindow = ({ start, end }: Pick<Window, 'start' | 'end'>): object => ({ start: formatTime(start), end: formatTime(end) });
  return JSON.stringify({
    new: shownOf((one) => one.a === 0),
    gone: shownOf((one) => one.b === 0),
    changed: shownOf((one) => one.a > 0 && one.b > 0 && change(one) >= 1),
    ...{ a: shownWindow(a), b: shownWindow(b) },
  });
}

/** `GET /patterns/{fingerprint}` for a key of a project. Throws HttpError 404 where none of its entries in the window is of the pattern. */
export async function projectPattern({ fingerprint, since }: PatternParameters, request: Request, deps: Deps): Promise<string> {
  const window = sinceWindow(since, request, deps);
  const filter = `_fingerprint:${fingerprint}`;
  const rows = (pipes: string): ReturnType<typeof rowsOf> =>
    rowsOf(parseQuery(`${filter} | ${pipes}`, { now: window.now }), window, request, deps);
  // the filter finds the whole cluster
  const found = (await patternsIn(filter, window, request, deps)).find((one) => one.fingerprint === fingerprint);
  if (found === undefined) throw notFound(`There is no pattern ${fingerprint}.`);
  const [hours, newest] = await Promise.all([
    rows('stats by (_time:1h) count() as hits | sort by (_time)'),
    rows(`sort by (_time desc) limit ${String(SAMPLED)} | fields _msg`),
  ]);
  const messages = newest.map((row) => textOf(row.get('_msg')));
  const body = {
    pattern: shown(found),
    history: hours.map((row) => ({ time: textOf(row.get('_time')), hits: Number(textOf(row.get('hits'))) })),
    placeholders: placeholderValues(found.template, messages),
    sampled: messages.length,
    first_example: found.example,
    last_example: messages[0] ?? null,
  };
  return `${JSON.stringify(body).slice(0, -1)},${windowMember(window)}}`;
}

const byTime = (a: string, b: string): number => (isEarlier(a, b) ? -1 : isEarlier(b, a) ? 1 : 0);

/** LogsQL: the entries of a service, by the labels of their streams; of all services where it is null. */
const ofService = (service: string | null): string =>
  service === null ? '*' : `({service=${JSON.stringify(service)}} or {"service.name"=${JSON.stringify(service)}})`;

/** The templates of the entries that the request may read and this filter finds. Throws HttpError 400 where there are too many. */
async function patternsIn(filter: string, window: Pick<Window, 'start' | 'end'>, request: Request, deps: Deps): Promise<Pattern[]> {
  const { options, filter: parsed } = parseQuery(filter, { now: deps.now() });
  const query = new Query(options, parsed, [new PatternStreamsPipe(MOST_GROUPS)]);
  const rows = await rowsOf(query, { ...window, now: deps.now() }, request, deps);
  if (rows.length >= MOST_GROUPS)
    throw invalidParameter(`The project has ${String(MOST_GROUPS)} patterns by stream and level, or more: narrow the window, or give a service.`); // prettier-ignore
  const found = new Map<string, Pattern>();
  for (const row of rows) {
    const of = (name: string): string => textOf(row.get(name));
    const [fingerprint, hits] = [of('fingerprint'), Number(of('hits'))];
    const fresh = { fingerprint, template: of('normalized_message'), example: of('example_raw_message'), count: 0, first: of('first'), last: of('last') }; // prettier-ignore
    const pattern = found.get(fingerprint) ?? { ...fresh, levels: new Map<string, number>(), streams: new Map<string, number>() };
    found.set(fingerprint, pattern);
    pattern.count += hits;
    if (isEarlier(fresh.first, pattern.first)) pattern.first = fresh.first;
    if (isEarlier(pattern.last, fresh.last)) pattern.last = fresh.last;
    for (const [counts, key] of [[pattern.levels, of('level')], [pattern.streams, of('_stream') || '{}']] as const) counts.set(key, (counts.get(key) ?? 0) + hits); // prettier-ignore
  }
  return [...found.values()];
}

function shown({ fingerprint, template, example, count, first, last, levels, streams }: Pattern): object {
  const byHits = (counts: ReadonlyMap<string, number>): string[] =>
    [...counts].sort(([a, more], [b, less]) => less - more || severityOf(b) - severityOf(a) || compareBytes(a, b)).map(([key]) => key);
  return {
    ...{ fingerprint, normalized_message: template, example_raw_message: example, first_seen: first, last_seen: last, count },
    ...{ streams: byHits(streams).slice(0, MOST_STREAMS), level: byHits(levels)[0] ?? '' },
  };
}

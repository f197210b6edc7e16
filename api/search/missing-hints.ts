import { nearest } from '../../pipeline/core/nearest.ts';
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { Query } from '../../logsql/base/query.ts';
import { quote } from '../../logsql/base/reserved.ts';
import type { Table } from '../../logsql/base/table.ts';
import type { Filter } from '../../logsql/base/types.ts';
import { ExactFilter } from '../../logsql/filters/exact.ts';
import { PhraseFilter } from '../../logsql/filters/phrase.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { planOptions, type Deps, type Request } from '../query/deps.ts';
import { prepare } from '../query/run.ts';
import { rows } from '../query/rows.ts';
import type { Window } from '../query/window.ts';

/** Fields that every entry has, or that are none of an entry's own. */
const ALWAYS = new Set(['_time', '_msg', '_stream', '_stream_id']);
/** Fields of a query that are looked for, and characters of one that are shown. */
const [MAX_FIELDS, MAX_SHOWN] = [5, 60];
/** What is said of a query that found nothing may take so much longer; what is not known by then is not said. Milliseconds. */
const MOST_MS = 3000;
/** Of a window with more names or levels nothing is said. */
const MAX_ROWS = 5000;

/**
 * What a query that found nothing may have meant: a field that no entry of the window has, with the nearest name that there is, and a level
 * that the window has in another case. Never rejects.
 */
export async function missingHints(query: Query, window: Window, request: Request, deps: Deps): Promise<readonly string[]> {
  const filters = [...leaves(query.filter)];
  const fields = [...new Set(filters.flatMap((filter) => filter.fields))].filter((field) => !ALWAYS.has(field)).slice(0, MAX_FIELDS);
  if (fields.length === 0) return [];
  try {
    const look = (text: string, limit = Infinity): Promise<readonly LogEntry[]> => lookUp(text, limit, window, request, deps);
    // one entry shows that a field is there; all names are looked at for what is not
    const found = await Promise.all(fields.map(async (field) => (await look(`${quote(field)}:* | fields _time`, 1)).length > 0));
    const absent = fields.filter((_field, index) => found[index] !== true);
    const names = new Set((absent.length === 0 ? [] : await look('* | field_names')).map((row) => textOf(row.get('name'))));
    // of a window without entries there is nothing to say
    if (absent.length > 0 && names.size === 0) return [];
    const { row, fewWords } = deps.table;
    const missing = absent.map((field) => ofField(row, field, names));
    missing.push(...filters.flatMap((filter) => wordsOf(filter).flatMap((word) => ofWord(row, filter.fields[0] ?? '', word, fewWords)))); // prettier-ignore
    const isOfLevels = fields.includes('level') && !absent.includes('level');
    const levels = isOfLevels ? filters.flatMap((filter) => (filter.fields[0] === 'level' ? wordsOf(filter) : [])) : [];
    if (levels.length === 0) return missing;
    const known = (await look('* | stats by (level) count() as hits')).map(
      (row) => [textOf(row.get('level')), textOf(row.get('hits'))] as const,
    );
    return [...missing, ...levels.flatMap((level) => ofLevel(level, known))];
  } catch {
    return [];
  }
}

/** At most `limit` rows of a query. */
async function lookUp(text: string, limit: number, window: Window, request: Request, deps: Deps): Promise<readonly LogEntry[]> {
  const { pipes, filter, options } = parseQuery(text, { now: window.now });
  const brief: Request = {
    ...request,
    timeoutMs: Math.min(request.timeoutMs, MOST_MS),
    signal: AbortSignal.any([request.signal, AbortSignal.timeout(MOST_MS)]),
  };
  const runner = deps.runner(brief);
  const found: LogEntry[] = [];
  for await (const { rows: some } of rows(
    await prepare(new Query(options, filter, pipes), planOptions(window, brief, deps), runner),
    runner,
    limit === Infinity ? {} : { limit },
  ))
    if (found.push(...some) > MAX_ROWS) throw new Error('The window has too many names.');
  return found;
}

function* leaves(filter: Filter): Generator<Filter> {
  if (filter.parts === undefined) yield filter;
  else for (const part of filter.parts) yield* leaves(part);
}

/** The word that a filter looks for. */
function wordsOf(filter: Filter): string[] {
  if (filter instanceof PhraseFilter) return [filter.phrase];
  return filter instanceof ExactFilter ? [filter.value] : [];
}

const shown = (text: string): string => JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

function ofField(row: string, field: string, names: ReadonlySet<string>): string {
  const meant = nearest(field, names);
  return meant === null
    ? `No ${row} in this window has the field ${shown(field)}.`
    : `No ${row} in this window has the field ${shown(field)}; did you mean ${shown(meant)}?`;
}

/** A word of a field that has one of few, which is none of them. */
function ofWord(row: string, field: string, word: string, fewWords: Table['fewWords']): string[] {
  const words = fewWords(field)?.words;
  return words === undefined || words.includes(word) ? [] : [`No ${row} has the ${field} ${shown(word)}; there are ${words.join(', ')}.`];
}

/** A level that is there in another case, unless it is there as it was written. */
function ofLevel(level: string, known: readonly (readonly [level: string, hits: string])[]): string[] {
  if (level === '' || known.some(([one]) => one === level)) return [];
  return known
    .filter(([one]) => one.toLowerCase() === level.toLowerCase())
    .map(
      ([one, hits]) =>
        `No entry in this window has the level ${shown(level)}; ${hits} have ${shown(one)}. level:i(${quote(level)}) finds both.`,
    );
}

import { allOf } from '../../logsql/filters/logic.ts';
import { MAX_QUERY_LENGTH, parseFilter } from '../../logsql/parser/parser.ts';
import type { Filter } from '../../logsql/base/types.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { readJson } from '../../pipeline/core/read-json.ts';

/** Most of them in one request, and most fields and values in one written as JSON. */
const MAX_FILTERS = 50;

/**
 * The filter of `extra_filters` and `extra_stream_filters`: LogsQL filters, or JSON of fields and their values (`{"env":["prod","dev"]}`).
 * They hold for every entry that is looked at, also by queries inside the query; a subquery of their own is refused. Null where
 * there are none. Throws HttpError 400 and LogsqlSyntaxError.
 */
export function extraFilters(parameters: Pick<URLSearchParams, 'getAll'>, now: bigint): Filter | null {
  const texts = [
    ...parameters.getAll('extra_filters').map((text) => fromJson(text, fieldFilter, ' ')),
    ...parameters.getAll('extra_stream_filters').map((text) => fromJson(text, streamFilter, ',', '{', '}')),
  ].filter((text) => text.trim() !== '');
  if (texts.length === 0) return null;
  if (texts.length > MAX_FILTERS) throw invalidParameter(`There are more than ${String(MAX_FILTERS)} extra filters.`);
  const filters = texts.map((text) => parseFilter(text, { now }));
  if (filters.some(hasSubquery)) throw invalidParameter('An extra filter cannot hold a query of its own.');
  return allOf(filters);
}

const hasSubquery = (filter: Filter): boolean => filter.subquery !== undefined || (filter.parts ?? []).some(hasSubquery);

type Values = readonly [string, ...string[]];

const fieldFilter = (field: string, [first, ...more]: Values): string =>
  `${JSON.stringify(field)}:${more.length === 0 ? `=${JSON.stringify(first)}` : `in(${[first, ...more].map((value) => JSON.stringify(value)).join(',')})`}`;

const streamFilter = (label: string, values: Values): string =>
  `${JSON.stringify(label)} in (${values.map((value) => JSON.stringify(value)).join(',')})`;

/** LogsQL of a filter that may be written as JSON; VictoriaLogs takes for JSON what begins with `{"`. */
function fromJson(text: string, write: (field: string, values: Values) => string, separator: string, open = '', close = ''): string {
  if (text.length > MAX_QUERY_LENGTH) throw invalidParameter(`An extra filter has more than ${String(MAX_QUERY_LENGTH)} characters.`);
  if (!text.startsWith('{"')) return text;
  const parts = Object.entries(parseObject(text)).flatMap(([field, value]): string[] => {
    const [first, ...more] = Array.isArray(value) ? (value as unknown[]) : [value];
    if (first === undefined) return [];
    if (typeof first !== 'string' || !more.every((one) => typeof one === 'string'))
      throw invalidParameter(`The extra filter of ${JSON.stringify(field.slice(0, 100))} is neither a string nor a list of strings.`);
    return [write(field, [first, ...more])];
  });
  if (parts.length > MAX_FILTERS) throw invalidParameter(`An extra filter has more than ${String(MAX_FILTERS)} fields.`);
  return parts.length === 0 ? '' : `${open}${parts.join(separator)}${close}`;
}

function parseObject(text: string): object {
  try {
    return readJson(text) as object;
  } catch {
    throw invalidParameter('An extra filter begins like JSON but is none.');
  }
}

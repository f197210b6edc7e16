import { renderValue, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { FacetsPipe } from '../../logsql/pipes/facets.ts';
import { Query } from '../../logsql/base/query.ts';
import { rowsOf, type Deps, type Request } from '../query/deps.ts';
import type { FacetsParameters } from '../query/parameters.ts';
import { readWindow, windowMember } from '../query/window.ts';

/** Bounds of any other field: values in the window, bytes of a value. */
const MAX_VALUES = 1000;
const MAX_LENGTH = 128;

/**
 * `GET /facets` and `GET /spans/facets`: the most frequent values of each field, exact. At most `maxFields` fields, those with the most hits first; how many
 * more there are is `truncated_fields`. The time is not a facet. Pipes of the query are dropped.
 */
export async function facets(parameters: FacetsParameters, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const { filter, options } = parseQuery(parameters.query, { now: window.now });
  const pipe = new FacetsPipe({
    limit: parameters.limit,
    maxValues: MAX_VALUES,
    maxLength: MAX_LENGTH,
    keepsConstant: true,
    always: deps.table.lists.always,
    never: deps.table.lists.never,
    maxFields: deps.maxFacetFields,
  });
  const rows = await rowsOf(new Query(options, filter, [pipe]), window, request, deps);
  const fields = new Map<string, string[]>();
  let truncated = '0';
  for (const row of rows) {
    const cut = textOf(row.get('truncated_fields'));
    if (cut === '') addValue(fields, row);
    else truncated = cut;
  }
  const list = [...fields].map(([name, values]) => `${JSON.stringify(name)}:[${values.join(',')}]`);
  return `{"facets":{${list.join(',')}},"truncated_fields":${truncated},${windowMember(window)}}`;
}

function addValue(fields: Map<string, string[]>, row: LogEntry): void {
  const name = textOf(row.get('field_name'));
  const value = `{"value":${renderValue(row.get('field_value') ?? '')},"hits":${textOf(row.get('hits'))}}`;
  const values = fields.get(name);
  if (values === undefined) fields.set(name, [value]);
  else values.push(value);
}

import { textOf } from '../../pipeline/core/entry.ts';
import { compareBytes } from '../../logsql/values/order.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { Query } from '../../logsql/base/query.ts';
import { rowsOf, type Deps, type Request } from '../query/deps.ts';
import type { WindowParameters } from '../query/parameters.ts';
import { readWindow, windowMember } from '../query/window.ts';

/** `GET /streams`: the streams of the window with their hits, most first, then by id. Pipes of the query are dropped. */
export async function listStreams(parameters: WindowParameters, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const { filter, options } = parseQuery(parameters.query, { now: window.now });
  const { pipes } = parseQuery('* | stats by (_stream) count() as hits', { now: window.now });
  const rows = await rowsOf(new Query(options, filter, pipes), window, request, deps);
  const streams = rows.map((row) => ({ id: textOf(row.get('_stream')) || '{}', hits: Number(textOf(row.get('hits'))) }));
  streams.sort((a, b) => b.hits - a.hits || compareBytes(a.id, b.id));
  return `{"streams":${JSON.stringify(streams)},${windowMember(window)}}`;
}

/** Names and values with their hits: `field_names`, `field_values`, `stream_…`, `streams`, `stream_ids`. Pipes of the query are dropped. */
import { compareBytes } from '../../logsql/values/order.ts';
import { freeName } from '../../logsql/base/arguments.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { quote } from '../../logsql/base/reserved.ts';
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { parseStream } from '../../pipeline/core/labels.ts';
import type { Deps, Request } from '../query/deps.ts';
import { countOf, readSelection, withoutPipes, type Arguments } from './arguments.ts';
import type { Select } from './select.ts';
import { selectedRows } from './rows.ts';

type Answer = Awaited<ReturnType<Select>>;
type Hits = ReadonlyMap<string, number>;

/** The rows of a pipe over the filter of the query. */
async function rowsOf(pipe: string, parameters: Arguments, request: Request, deps: Deps): Promise<readonly LogEntry[]> {
  const selection = readSelection(parameters, deps.now(), request.retentionDays);
  const { pipes } = parseQuery(`* | ${pipe}`, { now: 0n });
  return selectedRows(withoutPipes(selection, pipes), selection, request, deps);
}

/** Values that contain `filter` by their hits, most first, then by the bytes of the value; cut at `limit`. */
function answer(hits: Hits, limit: number, parameters: Arguments): Answer {
  const part = parameters.get('filter') ?? '';
  const kept = [...hits].filter(([value]) => value.includes(part));
  const sorted = kept.sort(([a, x], [b, y]) => y - x || compareBytes(a, b)).slice(0, limit);
  return { body: { values: sorted.map(([value, size]) => ({ value, hits: size })) } };
}

function fieldOf(parameters: Arguments): string {
  const field = parameters.get('field') ?? '';
  if (field === '') throw invalidParameter('field is missing.');
  if (field.length > 1000) throw invalidParameter('field has more than 1000 characters.');
  return field;
}

/** The hits of each value of a field: all of them, or the `limit` with the most. */
async function valuesOf(field: string, limit: number, parameters: Arguments, request: Request, deps: Deps): Promise<Hits> {
  const hits = freeName('hits', [field]);
  const pipe =
    limit === Infinity ? `stats by (${quote(field)}) count() as ${hits}` : `top ${String(limit)} by (${quote(field)}) hits as ${hits}`;
  const rows = await rowsOf(pipe, parameters, request, deps);
  return new Map(rows.map((row) => [textOf(row.get(field)), Number(textOf(row.get(hits)))]));
}

/** At most `limit` values, all where it is absent or 0. */
const topValues =
  (fieldIn: (parameters: Arguments) => string): Select =>
  async (parameters, request, deps) => {
    const limit = countOf(parameters, 'limit', Infinity);
    // what is filtered can only be cut afterwards
    const isCut = limit <= deps.memory.maxRows && (parameters.get('filter') ?? '') === '';
    return answer(await valuesOf(fieldIn(parameters), isCut ? limit : Infinity, parameters, request, deps), limit, parameters);
  };

export const fieldNames: Select = async (parameters, request, deps) => {
  const rows = await rowsOf('field_names', parameters, request, deps);
  return answer(new Map(rows.map((row) => [textOf(row.get('name')), Number(textOf(row.get('hits')))])), Infinity, parameters);
};
export const fieldValues = topValues(fieldOf);
export const streams = topValues(() => '_stream');
export const streamIds = topValues(() => '_stream_id');

/** The hits of what each stream's labels give. */
async function labelHits(
  pick: (label: string, value: string) => string | null,
  parameters: Arguments,
  request: Request,
  deps: Deps,
): Promise<Hits> {
  const hits = new Map<string, number>();
  for (const [stream, size] of await valuesOf('_stream', Infinity, parameters, request, deps))
    for (const [label, value] of parseStream(stream === '' ? '{}' : stream)) {
      const key = pick(label, value);
      if (key !== null) hits.set(key, (hits.get(key) ?? 0) + size);
    }
  return hits;
}

export const streamFieldNames: Select = async (parameters, request, deps) =>
  answer(await labelHits((label) => label, parameters, request, deps), Infinity, parameters);

export const streamFieldValues: Select = async (parameters, request, deps) => {
  const field = fieldOf(parameters);
  const limit = countOf(parameters, 'limit', Infinity);
  return answer(await labelHits((label, value) => (label === field ? value : null), parameters, request, deps), limit, parameters);
};

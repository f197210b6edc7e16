import { freeName } from '../../logsql/base/arguments.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { quote } from '../../logsql/base/reserved.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import { compareBytes } from '../../logsql/values/order.ts';
import { countOf, durationOf, readSelection, stepOf, stepText, withoutPipes } from './arguments.ts';
import type { Select } from './select.ts';
import { selectedRows } from './rows.ts';

/** Most fields to group by. */
const MAX_FIELDS = 20;

type Series = { readonly fields: string; readonly points: Map<string, number>; total: number };

/** `/select/logsql/hits`: for each group of `field` values the times of the buckets that have entries, and their counts. */
export const selectHits: Select = async (parameters, request, deps) => {
  const fields = [...new Set(parameters.getAll('field').filter((name) => name !== ''))];
  if (fields.length > MAX_FIELDS) throw invalidParameter(`field is given more than ${String(MAX_FIELDS)} times.`);
  if (fields.includes('_time')) throw invalidParameter('field cannot be "_time", by which hits are grouped anyway.');
  const step = stepOf(parameters);
  const offset = Math.trunc(durationOf(parameters, 'offset', 0));
  const most = countOf(parameters, 'fields_limit', Infinity);
  const selection = readSelection(parameters, deps.now(), request.retentionDays);
  const hits = freeName('hits', fields);
  const { pipes } = parseQuery(
    `* | stats by (${[`_time:${stepText(step, offset)}`, ...fields.map(quote)].join(', ')}) count() as ${hits}`,
    { now: 0n },
  );
  const rows = await selectedRows(withoutPipes(selection, pipes), selection, request, deps);
  const series = new Map<string, Series>();
  for (const row of rows) {
    const key = `{${fields.map((name) => `${JSON.stringify(name)}:${JSON.stringify(textOf(row.get(name)))}`).join(',')}}`;
    add(series, key, textOf(row.get('_time')), Number(textOf(row.get(hits))));
  }
  return {
    body: `{"hits":[${cut([...series.values()], most)
      .map(render)
      .join(',')}]}`,
  };
};

function add(series: Map<string, Series>, fields: string, time: string, hits: number): void {
  const known = series.get(fields) ?? { fields, points: new Map<string, number>(), total: 0 };
  known.points.set(time, (known.points.get(time) ?? 0) + hits);
  known.total += hits;
  series.set(fields, known);
}

/** The groups with the most hits; the others as one without fields. */
function cut(series: Series[], most: number): readonly Series[] {
  series.sort((a, b) => b.total - a.total || compareBytes(a.fields, b.fields));
  if (series.length <= most) return series;
  const others = new Map<string, Series>();
  for (const { points } of series.slice(most)) for (const [time, hits] of points) add(others, '{}', time, hits);
  return [...series.slice(0, most), ...others.values()];
}

function render({ fields, points, total }: Series): string {
  const sorted = [...points].sort(([a], [b]) => compareTimes(a, b));
  const times = JSON.stringify(sorted.map(([time]) => time));
  return `{"fields":${fields},"timestamps":${times},"values":${JSON.stringify(sorted.map(([, hits]) => hits))},"total":${String(total)}}`;
}

function compareTimes(a: string, b: string): number {
  const difference = (parseTime(a) ?? 0n) - (parseTime(b) ?? 0n);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

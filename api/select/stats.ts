/** `stats_query` and `stats_query_range`: results of `stats` as Prometheus' vectors and matrices. */
import type { Bucket } from '../../logsql/pipes/bucket.ts';
import { FieldsPipe } from '../../logsql/pipes/fields.ts';
import { RenamePipe } from '../../logsql/pipes/rename.ts';
import { SortPipe } from '../../logsql/pipes/sort.ts';
import { StatsPipe } from '../../logsql/pipes/stats.ts';
import { Query } from '../../logsql/base/query.ts';
import type { Pipe } from '../../logsql/base/types.ts';
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import { compareBytes } from '../../logsql/values/order.ts';
import { durationOf, readSelection, stepOf, stepText } from './arguments.ts';
import type { Select } from './select.ts';
import { selectedRows } from './rows.ts';

/** Pipes that may follow `stats`: after them it is still known what is a label and what is a value. */
const FOLLOWERS = new Set(['filter', 'sort', 'limit', 'offset', 'math', 'fields', 'delete', 'copy', 'rename']);

type Stats = {
  readonly before: readonly Pipe[];
  readonly stats: StatsPipe;
  readonly after: readonly Pipe[];
  readonly labels: ReadonlySet<string>;
};

/** Finds the last `stats` pipe and what its labels are called in the end. Throws HttpError 400. */
function splitAtStats(pipes: readonly Pipe[]): Stats {
  const at = pipes.findLastIndex((pipe) => pipe instanceof StatsPipe);
  const stats = pipes[at];
  if (!(stats instanceof StatsPipe)) throw invalidParameter('The query needs a stats pipe such as "| stats by (level) count() n".');
  const after = pipes.slice(at + 1);
  const other = after.map((pipe) => pipe.toString().split(' ')[0] ?? '').find((name) => !FOLLOWERS.has(name));
  if (other !== undefined) throw invalidParameter(`The pipe ${other} cannot follow stats here; use ${[...FOLLOWERS].join(', ')}.`);
  const labels = new Set(stats.by.map(({ name }) => name));
  for (const pipe of after)
    if (pipe instanceof RenamePipe)
      for (const { from, to } of pipe.pairs) if (labels.has(from) && (pipe.name === 'copy' || labels.delete(from))) labels.add(to);
  return { before: pipes.slice(0, at), stats, after, labels };
}

/** Each value of a row with its labels. */
function seriesOf(row: LogEntry, labels: ReadonlySet<string>): readonly { readonly metric: string; readonly value: string }[] {
  const own = [...row].filter(([name]) => labels.has(name)).map(([name, value]) => [name, textOf(value)] as const);
  own.sort(([a], [b]) => compareBytes(a, b));
  const rest = own.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`).join('');
  return [...row]
    .filter(([name]) => !labels.has(name))
    .map(([name, value]) => ({ metric: `{"__name__":${JSON.stringify(name)}${rest}}`, value: textOf(value) }));
}

/** Seconds as Prometheus writes them. */
const seconds = (ns: bigint): string => String(Number(ns / 1_000_000n) / 1000);

const success = (type: string, result: readonly string[]): { readonly body: string } => ({
  body: `{"status":"success","data":{"resultType":"${type}","result":[${result.join(',')}]}}`,
});

/** `/select/logsql/stats_query`: the results at one moment, `time` (else the end, else now). */
export const selectStats: Select = async (parameters, request, deps) => {
  const selection = readSelection(parameters, deps.now(), request.retentionDays);
  const { labels } = splitAtStats(selection.query.pipes);
  const rows = await selectedRows(selection.query, selection, request, deps);
  const at = seconds(selection.window.now);
  const results = rows.flatMap((row) => seriesOf(row, labels));
  return success(
    'vector',
    results.map(({ metric, value }) => `{"metric":${metric},"value":[${at},${JSON.stringify(value)}]}`),
  );
};

/** `/select/logsql/stats_query_range`: the results for each `step` of the window; `offset` moves where steps begin. */
export const selectStatsRange: Select = async (parameters, request, deps) => {
  const step = stepOf(parameters);
  const offset = Math.trunc(durationOf(parameters, 'offset', 0));
  const selection = readSelection(parameters, deps.now(), request.retentionDays);
  const { before, stats, after, labels } = splitAtStats(selection.query.pipes);
  const by = [...stats.by.filter(({ name }) => name !== '_time'), { name: '_time', bucket: bucketOf(step, offset) }];
  const pipes = [...before, new StatsPipe(by, stats.calls), ...after.map(inEachStep)];
  const { options, filter } = selection.query;
  const rows = await selectedRows(new Query(options, filter, pipes), selection, request, deps);
  const series = new Map<string, { readonly at: bigint; readonly value: string }[]>();
  for (const row of rows) {
    const at = parseTime(textOf(row.get('_time'))) ?? selection.window.now;
    const timeless = new Map([...row].filter(([name]) => name !== '_time'));
    for (const { metric, value } of seriesOf(timeless, labels)) {
      const points = series.get(metric) ?? [];
      series.set(metric, points);
      points.push({ at, value });
    }
  }
  const sorted = [...series].sort(([a], [b]) => compareBytes(a, b));
  return success(
    'matrix',
    sorted.map(([metric, points]) => {
      points.sort((a, b) => Number(a.at - b.at));
      return `{"metric":${metric},"values":[${points.map(({ at, value }) => `[${seconds(at)},${JSON.stringify(value)}]`).join(',')}]}`;
    }),
  );
};

const bucketOf = (size: number, offset: number): Bucket => ({ size, offset, calendar: null, written: stepText(size, offset) });

/** The pipe as it is meant for each step: a sort cuts each on its own, and the time is kept. */
function inEachStep(pipe: Pipe): Pipe {
  if (pipe instanceof FieldsPipe) return new FieldsPipe([...pipe.patterns, '_time']);
  if (!(pipe instanceof SortPipe) || pipe.options.limit === Infinity) return pipe;
  return new SortPipe({ ...pipe.options, partition: [...pipe.options.partition, '_time'] });
}

/** The conformance cases of PromQL (LOGWEIR_SHARED): requests with the answers of Prometheus. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PromqlRequestError, PromqlSyntaxError } from '../../promql/base/errors.ts';
import type { RawSeries } from '../../promql/base/series.ts';
import { instantQuery, rangeQuery } from '../../promql/evaluation/query.ts';
import { valueJson } from './value-json.ts';
import { Labels } from '../../promql/values/labels.ts';
import { MemorySource, rawSeries } from './memory-source.ts';

type Json = Readonly<Record<string, unknown>>;
export type Case = {
  readonly endpoint: 'query' | 'query_range';
  readonly params: {
    readonly query: string;
    readonly time?: number;
    readonly start?: number;
    readonly end?: number;
    readonly step?: number;
  };
  readonly answer: { readonly status: string; readonly errorType?: string; readonly error?: string; readonly data?: Json };
};

const folder = path.join(process.env['LOGWEIR_SHARED'] ?? path.join(import.meta.dirname, '../../../shared'), 'conformance/promql');
export const isPresent = existsSync(path.join(folder, 'cases.jsonl'));

const lines = (name: string): string[] =>
  readFileSync(path.join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

export const loadCases = (): Case[] => lines('cases.jsonl').map((line) => JSON.parse(line) as Case);

const SPECIAL: Readonly<Record<string, number>> = { NaN: NaN, '+Inf': Infinity, '-Inf': -Infinity };

/** The samples, which a source gives. */
export const loadSource = (): MemorySource => new MemorySource(loadSeries());

export function loadSeries(): RawSeries[] {
  return lines('samples.jsonl').map((line): RawSeries => {
    const { labels, samples } = JSON.parse(line) as { labels: Record<string, string>; samples: [number, number | string][] };
    return rawSeries(
      Labels.of(Object.entries(labels)),
      samples.map(
        ([time, value]) =>
          [time, typeof value === 'number' ? value : value === 'stale' ? 'stale' : (SPECIAL[value] ?? Number(value))] as const,
      ),
    );
  });
}

/** What the API would answer. */
export async function answer({ endpoint, params }: Case, source: MemorySource): Promise<Case['answer']> {
  const ms = (seconds = 0): number => Math.round(seconds * 1000);
  try {
    const { value } =
      endpoint === 'query'
        ? await instantQuery(params.query, ms(params.time), { source })
        : await rangeQuery(params.query, ms(params.start), ms(params.end), ms(params.step), { source });
    return { status: 'success', data: valueJson(value) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof PromqlSyntaxError || error instanceof PromqlRequestError)
      return { status: 'error', errorType: 'bad_data', error: `invalid parameter "query": ${error.message}` };
    if (error.message.startsWith('BUG')) throw error;
    return { status: 'error', errorType: 'execution', error: error.message };
  }
}

const numberOf = (text: string): number => SPECIAL[text] ?? Number(text);

/** Equal within 1e-9 of the greater, or by so little that `least` does not count it. */
function near(a: string, b: string, least = 0): boolean {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) && Number.isNaN(right);
  return left === right || Math.abs(left - right) <= Math.max(least, 1e-9 * Math.max(Math.abs(left), Math.abs(right)));
}

type Point = readonly [number, string];
type Result = { readonly metric: Record<string, string>; readonly value?: Point; readonly values?: readonly Point[] };

const keyOf = ({ metric }: Result): string => Labels.of(Object.entries(metric)).key;
const samePoint = ([time, value]: Point, [otherTime, other]: Point, least: number): boolean =>
  time === otherTime && near(value, other, least);

/**
 * What differs between an answer and the one that is right; null where nothing does. `least`: differences that are no larger are none, and equal values
 * may stand in any order.
 */
export function difference(test: Case, given: Case['answer'], least = 0): string | null {
  const { answer: right } = test;
  if (right.status !== given.status) return `${given.status}: ${given.error ?? ''}`;
  if (right.status === 'error') return right.errorType === given.errorType ? null : `${given.errorType ?? ''}: ${given.error ?? ''}`;
  const [a, b] = [right.data ?? {}, JSON.parse(JSON.stringify(given.data)) as Json];
  if (a['resultType'] !== b['resultType']) return `a ${String(b['resultType'])}`;
  if (a['resultType'] === 'scalar' || a['resultType'] === 'string') {
    const [one, other] = [a['result'] as Point, b['result'] as Point];
    return one[0] === other[0] && (one[1] === other[1] || near(one[1], other[1])) ? null : JSON.stringify(other);
  }
  const isOrdered = least === 0 && test.endpoint === 'query' && /^(?:sort|topk|bottomk)/.test(test.params.query);
  const order = (list: Result[]): Result[] => (isOrdered ? list : [...list].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)));
  const [expected, found] = [order(a['result'] as Result[]), order(b['result'] as Result[])];
  if (expected.length !== found.length) return `${String(found.length)} series, not ${String(expected.length)}`;
  for (const [at, one] of expected.entries()) {
    const other = found[at];
    if (other === undefined || keyOf(one) !== keyOf(other))
      return `series ${JSON.stringify(other?.metric)}, not ${JSON.stringify(one.metric)}`;
    const [points, others] = [one.values ?? [one.value ?? [0, '']], other.values ?? [other.value ?? [0, '']]] as [Point[], Point[]];
    if (points.length !== others.length)
      return `${JSON.stringify(one.metric)} has ${String(others.length)} points, not ${String(points.length)}`;
    const wrong = points.findIndex((point, place) => !samePoint(point, others[place] as Point, least));
    if (wrong >= 0) return `${JSON.stringify(one.metric)}: ${JSON.stringify(others[wrong])}, not ${JSON.stringify(points[wrong])}`;
  }
  return null;
}

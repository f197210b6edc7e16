import { compress } from 'snappyjs';
import type { AttackRequest, RequestAttack, Target } from './attack.ts';
import { lengthDelimited, nestedMessages, snappyOf } from './bytes.ts';
import { sampleBytes, seriesBytes } from './metric-bytes.ts';

const WRITE = '/api/v1/write';
const [MANY, MIB, HOUR_MS] = [4000, 1_048_576, 3_600_000];
/** Over the cap of samples of a request. */
const TOO_MANY = 500_001;

const many = <Item>(count: number, one: (index: number) => Item): Item[] => Array.from({ length: count }, (_none, index) => one(index));
/** Numbers that differ by round and by index. */
const place = (round: number, index: number): string => String((round % 1_000_000) * MANY + index);

/** Remote write. `body`: what is compressed; one for all rounds where it does not ask for the round. */
function remoteWrite(
  name: string,
  atOnce: number,
  body: (round: number) => Buffer,
  pack = (bytes: Buffer): Buffer => Buffer.from(compress(bytes)),
): RequestAttack {
  let made: Buffer | null = null;
  return {
    ...{ name, kind: 'ingest', atOnce },
    request: (_target, round): AttackRequest => ({
      ...{
        host: 'ingest',
        method: 'POST',
        path: WRITE,
        headers: { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy' },
      },
      body: body.length > 0 ? pack(body(round)) : (made ??= pack(body(round))),
    }),
  };
}

/** What a tenant does with the paths that take samples. */
const IN: readonly RequestAttack[] = [
  remoteWrite('metrics-new-series', 16, (round) =>
    Buffer.concat(many(MANY, (i) => seriesBytes({ __name__: 'attack', id: place(round, i) }))),
  ),
  remoteWrite('metrics-new-names', 16, (round) => Buffer.concat(many(MANY, (i) => seriesBytes({ __name__: `attack_${place(round, i)}` })))),
  remoteWrite('metrics-new-labels', 16, (round) =>
    Buffer.concat(
      many(30, (i) => seriesBytes({ __name__: 'attack', ...Object.fromEntries(many(120, (n) => [`l${place(round, i * 120 + n)}`, 'x'])) })),
    ),
  ),
  remoteWrite('metrics-one-label-in-each-record', 16, (round) => seriesBytes({ __name__: 'attack', id: String(round % 100) })),
  remoteWrite('metrics-copies', 16, () => Buffer.concat(many(MANY, () => seriesBytes({ __name__: 'attack', id: 'same' }, [Date.now()])))),
  remoteWrite('metrics-any-time', 16, (round) =>
    Buffer.concat(many(MANY, (i) => seriesBytes({ __name__: 'attack', id: String(i % 50) }, [Date.now() - ((round + i) % 300) * HOUR_MS]))),
  ),
  remoteWrite('metrics-too-many-samples', 4, () => {
    const samples = Buffer.alloc(TOO_MANY * 18, sampleBytes(1, Date.now()));
    return lengthDelimited(0x0a, Buffer.concat([lengthDelimited(0x0a, Buffer.from('\n\u0008__name__\u0012\u0001a')), samples]));
  }),
  remoteWrite('metrics-labels-of-1mb', 16, (round) => seriesBytes({ __name__: 'attack', id: place(round, 0), long: 'x'.repeat(MIB) })),
  remoteWrite('metrics-many-labels', 16, () => Buffer.concat(many(40, (i) => seriesBytes({ __name__: 'attack', ...Object.fromEntries(many(1000, (n) => [`l${String(i)}_${String(n)}`, 'x'])) })))), // prettier-ignore
  remoteWrite('metrics-empty-series', 16, () => Buffer.alloc(30 * MIB, Buffer.from([0x0a, 0])), snappyOf),
  remoteWrite('metrics-bomb', 4, () => Buffer.alloc(40 * MIB, 0x0a), snappyOf),
  remoteWrite('metrics-nested', 16, () => nestedMessages(0x0a, 100_000)),
  remoteWrite('metrics-histograms', 16, (round) => Buffer.concat(many(200, (i) => seriesBytes({ __name__: 'attack_h', id: place(round, i) }, [], lengthDelimited(0x22, widest()))))), // prettier-ignore
  {
    ...{ name: 'metrics-lines', kind: 'ingest', atOnce: 16 },
    request: (_target, round) => ({
      ...{ host: 'ingest', method: 'POST', path: '/write' },
      body: many(20_000, (i) => `attack,id=${place(round, i % MANY)} a=1,b=2i,c=t,d="x"`).join('\n'),
    }),
  },
  {
    ...{ name: 'metrics-line-of-fields', kind: 'ingest', atOnce: 16 },
    request: (_target, round) => ({
      ...{ host: 'ingest', method: 'POST', path: '/write' },
      body: `attack ${many(120_000, (i) => `f${String(i)}_${String(round % 10)}=1`).join(',')}`,
    }),
  },
  {
    ...{ name: 'metrics-json-depth', kind: 'ingest', atOnce: 16 },
    request: () => ({
      ...{ host: 'ingest', method: 'POST', path: '/v1/metrics', headers: { 'Content-Type': 'application/json' } },
      body: `{"resourceMetrics":[{"resource":{"attributes":[{"key":"a","value":${'{"arrayValue":{"values":['.repeat(20_000)}`,
    }),
  },
];

/** A histogram with as many buckets as may be. */
function widest(): Buffer {
  const deltas = Buffer.alloc(8000, 0x02);
  return Buffer.concat([
    Buffer.from([0x08, 0xc0, 0x3e]),
    lengthDelimited(0x5a, Buffer.from([0x10, 0xc0, 0x3e])),
    lengthDelimited(0x62, deltas),
    Buffer.from([0x78, ...varint(Date.now())]),
  ]);
}

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
};

const own = ({ tenantId }: Target, path: string): string => `/api/v1/tenants/${String(tenantId)}/prometheus/api/v1/${path}`;

/** A query by a form. */
const promql = (name: string, atOnce: number, path: string, parameters: () => Readonly<Record<string, string>>): RequestAttack => ({
  ...{ name, kind: 'query', atOnce },
  request: (target) => ({
    ...{ host: 'app', method: 'POST', path: own(target, path), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    body: new URLSearchParams(parameters()).toString(),
  }),
});
const seconds = (ago: number): string => String((Date.now() - ago) / 1000);
const YEAR_MS = 365 * 24 * HOUR_MS;
const ALL = '{__name__=~".+"}';
/** A query of all samples of a day at as many points as may be. */
const overDay = (query: string) => (): Record<string, string> => ({ query, start: seconds(24 * HOUR_MS), end: seconds(0), step: '8' });
const nested = (depth: number, begin: string, end: string): string => begin.repeat(depth) + ALL + end.repeat(depth);

/** What a tenant does with the paths of PromQL. */
const OUT: readonly RequestAttack[] = [
  promql('promql-calls-in-each-other', 16, 'query', () => ({ query: nested(10_000, 'abs(', ')') })),
  promql('promql-calls-allowed', 8, 'query_range', overDay(nested(190, 'abs(', ')'))),
  promql('promql-parentheses', 16, 'query', () => ({ query: `${'('.repeat(5000)}1${')'.repeat(5000)}` })),
  promql('promql-year-at-1ms', 16, 'query_range', () => ({ query: ALL, start: seconds(YEAR_MS), end: seconds(0), step: '0.001' })),
  promql('promql-year', 4, 'query', () => ({ query: `count_over_time(${ALL}[365d])` })),
  promql('promql-all-of-a-day', 4, 'query_range', overDay(ALL)),
  promql('promql-all-against-all', 4, 'query_range', overDay(`${ALL} * on () group_left ${ALL}`)),
  promql('promql-subqueries', 4, 'query', () => ({ query: `max_over_time(max_over_time(${ALL}[1d:1ms])[1d:1ms])` })),
  promql('promql-subquery-steps', 8, 'query_range', overDay(`max_over_time(rate(${ALL}[5m])[1d:1s])`)),
  promql('promql-equal-selectors', 4, 'query_range', overDay(Array.from({ length: 490 }, () => ALL).join('+'))),
  promql('promql-other-selectors', 4, 'query_range', overDay(many(200, (i) => `{__name__=~".+",a!="${String(i)}"}`).join(' or '))),
  promql('promql-regexp', 8, 'query', () => ({ query: `{__name__=~"${'(a|b)*'.repeat(1600)}"}` })),
  promql('promql-regexp-repeats', 8, 'query', () => ({ query: `{__name__=~"${'a{1000}'.repeat(1000)}"}` })),
  promql('promql-doubled-labels', 4, 'query', () => ({ query: nested(60, 'label_join(', ',"x","","x","x","__name__")') })),
  promql('promql-replaced-labels', 4, 'query', () => ({ query: nested(60, 'label_replace(', `,"x","$1${'$1'.repeat(40)}","x","(.*)")`) })),
  promql('promql-values', 4, 'query_range', overDay(`count_values("v", ${ALL})`)),
  promql('promql-quantiles', 4, 'query_range', overDay(`quantile_over_time(0.9, ${ALL}[1d])`)),
  promql('promql-topk', 4, 'query_range', overDay(`topk(1000000, ${ALL})`)),
  promql('promql-numbers', 8, 'query_range', overDay(many(480, () => 'vector(time())').join('*'))),
  promql('promql-series', 8, 'series', () => ({ 'match[]': ALL })),
  promql('promql-label-values', 8, 'labels', () => ({ 'match[]': ALL })),
  promql('promql-exemplars', 8, 'query_exemplars', () => ({ query: many(250, (i) => `{__name__=~".+",a!="${String(i)}"}`).join('+') })),
  promql('promql-derived', 4, 'query', () => ({ query: 'sum by (app) (increase(logs_stream_entries_total[365d])) + sum(increase(traces_span_duration_seconds[365d]))' })), // prettier-ignore
];

export const METRIC_ATTACKS: readonly RequestAttack[] = [...IN, ...OUT];

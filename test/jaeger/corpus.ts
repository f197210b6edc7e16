import type { AnyValue, KeyValue, SpanJson, TracesJson } from '../fixtures/otlp/traces.ts';

const SECOND = 1_000_000_000n;
const pair = (key: string, value: AnyValue): KeyValue => ({ key, value });
const text = (key: string, stringValue: string): KeyValue => pair(key, { stringValue });
const id = (number: number): string => number.toString(16).padStart(16, '0');
/** The id of a trace of this corpus. */
export const traceOf = (number: number): string => `4bf92f3577b34da6${id(number)}`;
/** One whose upper half is zeros. */
export const SHORT_TRACE = '0'.repeat(16) + id(0xabc);

type Place = { readonly trace: string; readonly span: number; readonly parent?: number; readonly at: bigint; readonly took: bigint };
const span = ({ trace, span: own, parent, at, took }: Place, more: SpanJson): SpanJson => ({
  ...{ traceId: trace, spanId: id(own), ...(parent === undefined ? {} : { parentSpanId: id(parent) }) },
  ...{ startTimeUnixNano: String(at), endTimeUnixNano: String(at + took) },
  ...more,
});
type Group = TracesJson['resourceSpans'][number];
const group = (service: string, spans: readonly SpanJson[], more: readonly KeyValue[] = []): Group => ({
  resource: { attributes: [text('service.name', service), ...more] },
  scopeSpans: [{ scope: { name: 'lib', version: '1.2' }, spans }],
});

const VALUES: readonly KeyValue[] = [
  text('z.last', 'é ☕ <b>&"quoted"</b> \\ \u2028'),
  text('a.first', ''),
  pair('bool', { boolValue: true }),
  pair('not', { boolValue: false }),
  pair('int', { intValue: '42' }),
  pair('int.large', { intValue: '9007199254740991' }),
  pair('int.larger', { intValue: '9223372036854775807' }),
  pair('int.least', { intValue: '-9223372036854775808' }),
  pair('double', { doubleValue: 0.1 }),
  pair('double.whole', { doubleValue: 3 }),
  pair('double.large', { doubleValue: 1e21 }),
  pair('double.larger', { doubleValue: 1.5e300 }),
  pair('double.small', { doubleValue: 1e-7 }),
  pair('bytes', { bytesValue: 'AAEC/w==' }),
  pair('array', { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '2' }, { doubleValue: 2.5 }, { boolValue: true }] } }),
  pair('array.empty', { arrayValue: { values: [] } }),
  pair('array.deep', { arrayValue: { values: [{ arrayValue: { values: [{ stringValue: '<x>' }] } }, {}] } }),
  pair('pairs', {
    kvlistValue: { values: [text('z', 'last'), pair('a', { bytesValue: 'AQI=' }), pair('m', { intValue: '9223372036854775807' })] },
  }),
  pair('none', {}),
];

/** One trace with all that spans may have. */
const everything = (at: bigint): Group[] => [
  {
    resource: { attributes: [text('service.name', 'front'), text('host.name', 'web-1'), pair('process.pid', { intValue: '77' }), pair('telemetry.on', { boolValue: true })] }, // prettier-ignore
    schemaUrl: 'https://opentelemetry.io/schemas/1.21.0',
    scopeSpans: [
      {
        scope: { name: 'http', version: '0.4', attributes: [text('scope.word', 'w')] },
        spans: [
          span({ trace: traceOf(1), span: 1, at, took: 200_000_123n }, { name: 'GET /cart', kind: 2, attributes: VALUES, traceState: 'a=1,b=2', flags: 257, status: { code: 1 } }), // prettier-ignore
          span(
            { trace: traceOf(1), span: 2, parent: 1, at: at + 10_000_000n, took: 150_000_000n },
            {
              ...{ name: 'call cart', kind: 3, status: { code: 2, message: 'it failed' } },
              events: [
                { timeUnixNano: String(at + 30_000_001n), name: 'later', attributes: [text('b', '2'), text('a', '1')] },
                {
                  timeUnixNano: String(at + 20_000_000n),
                  name: 'exception',
                  attributes: [text('exception.message', 'no'), text('event', 'own')],
                },
                { timeUnixNano: String(at + 25_000_000n), name: '' },
              ],
              links: [
                { traceId: traceOf(2), spanId: id(1), attributes: [text('why', 'x')] },
                { traceId: SHORT_TRACE, spanId: id(9), attributes: [text('opentracing.ref_type', 'child_of')] },
                { traceId: traceOf(1), spanId: id(1) },
              ],
            },
          ),
        ],
      },
      {
        scope: {},
        spans: [span({ trace: traceOf(1), span: 3, parent: 1, at: at + 170_000_000n, took: 0n }, { name: 'no scope', kind: 1 })],
      },
    ],
  },
  group('cart', [
    span({ trace: traceOf(1), span: 4, parent: 2, at: at + 20_000_000n, took: 100_000_000n }, { name: 'get', kind: 2, attributes: [text('user.id', 'u1')] }), // prettier-ignore
    span({ trace: traceOf(1), span: 5, parent: 4, at: at + 30_000_000n, took: 5_000_000n }, { name: 'SELECT', kind: 3, attributes: [text('db.system.name', 'postgresql')] }), // prettier-ignore
    span({ trace: traceOf(1), span: 6, parent: 4, at: at + 40_000_000n, took: 5_000_000n }, { name: 'publish', kind: 4 }),
    span({ trace: traceOf(1), span: 7, parent: 6, at: at + 50_000_000n, took: 5_000_000n }, { name: 'take', kind: 5 }),
    span({ trace: traceOf(1), span: 8, parent: 7, at: at + 60_000_000n, took: 5_000_000n }, { name: 'nothing', kind: 0 }),
  ]),
];

/** Traces with something odd, each for one reason. */
const odd = (at: bigint): Group[] => [
  group('front', [
    span({ trace: SHORT_TRACE, span: 9, at, took: SECOND }, { name: 'short id', kind: 2 }),
    span({ trace: traceOf(3), span: 1, parent: 99, at, took: SECOND }, { name: 'without its parent', kind: 2 }),
    span({ trace: traceOf(4), span: 1, parent: 2, at, took: SECOND }, { name: 'in a circle', kind: 1 }),
    span({ trace: traceOf(4), span: 2, parent: 1, at: at + 1000n, took: SECOND }, { name: 'in a circle, too', kind: 1 }),
    span({ trace: traceOf(6), span: 1, at, took: 1000n }, { name: 'a client', kind: 3 }),
    span({ trace: traceOf(7), span: 1, at, took: 100_000_000n }, { name: 'before its child', kind: 3 }),
  ]),
  group('back', [
    // Zipkin's server shares the id of its client
    span({ trace: traceOf(6), span: 1, at: at + 100n, took: 700n }, { name: 'its server', kind: 2 }),
    span({ trace: traceOf(6), span: 2, parent: 1, at: at + 200n, took: 100n }, { name: 'below the server', kind: 1 }),
    // a clock that goes behind
    span({ trace: traceOf(7), span: 2, parent: 1, at: at - 50_000_000n, took: 10_000_000n }, { name: 'begins before its parent', kind: 2 }),
  ]),
  { resource: {}, scopeSpans: [{ scope: { name: 'lib' }, spans: [span({ trace: traceOf(5), span: 1, at, took: 5n }, { name: 'without a resource', kind: 1 })] }] }, // prettier-ignore
  { resource: { attributes: [text('host.name', 'h')] }, scopeSpans: [{ spans: [span({ trace: traceOf(8), span: 1, at, took: 5n }, { name: 'without a service', kind: 1 })] }] }, // prettier-ignore
  group('ünï/cødé svc', [span({ trace: traceOf(9), span: 1, at, took: 1n }, { name: 'op with / and ?', kind: 2 })]),
];

/** Many like each other, to search among. */
const many = (at: bigint): Group[] => [
  group(
    'shop',
    Array.from({ length: 30 }, (_none, index) =>
      span(
        { trace: traceOf(100 + index), span: 1, at: at + BigInt(index) * SECOND, took: BigInt(index + 1) * 10_000_000n },
        {
          ...{ name: index % 3 === 0 ? 'buy' : 'look', kind: 2, status: index % 5 === 0 ? { code: 2 } : {} },
          attributes: [text('user.id', `u${String(index % 4)}`), pair('http.response.status_code', { intValue: String(200 + (index % 2) * 300) }), pair('cached', { boolValue: index % 2 === 0 })], // prettier-ignore
        },
      ),
    ),
    [text('deployment.environment.name', 'test')],
  ),
];

/** The requests, of spans that begin some minutes before `now` (nanoseconds). */
export function corpus(now: bigint): TracesJson[] {
  const at = (now / SECOND) * SECOND - 600n * SECOND + 123_456_789n;
  return [{ resourceSpans: everything(at) }, { resourceSpans: odd(at + 60n * SECOND) }, { resourceSpans: many(at + 120n * SECOND) }];
}

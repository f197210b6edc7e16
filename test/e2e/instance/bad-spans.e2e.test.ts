import { expect } from 'chai';
import { requestOf, tracesProtobuf, type AnyValue, type SpanJson } from '../../fixtures/otlp/traces.ts';
import { deepAttribute, ofService, spanBytes } from '../../hostile/span-bytes.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const DAY = 86_400_000_000_000n;
let made = 0;
const id = (digits: number): string => (++made).toString(16).padStart(digits, '0');
const now = (): bigint => BigInt(Date.now()) * 1_000_000n;
const many = <Item>(count: number, one: (index: number) => Item): Item[] => Array.from({ length: count }, (_none, index) => one(index));
const nested = (depth: number): AnyValue => (depth === 0 ? { stringValue: 'x' } : { arrayValue: { values: [nested(depth - 1)] } });

function span(more: SpanJson = {}): SpanJson {
  const start = now();
  return {
    traceId: id(32),
    spanId: id(16),
    name: 'work',
    kind: 1,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 5n),
    ...more,
  };
}

/** protobufjs writes no value as deep as that. */
const protobufOf = (more: SpanJson, good: SpanJson): Buffer =>
  JSON.stringify(more).includes('"deep"')
    ? Buffer.concat([
        ofService('deep', [spanBytes({ trace: ++made, span: 1, more: deepAttribute(65) })]),
        tracesProtobuf(requestOf([good])),
      ])
    : tracesProtobuf(requestOf([span(more), good]));

/** A span that is rejected, and the reason that is given. */
const REJECTED: readonly (readonly [what: string, more: () => SpanJson, reason: string | RegExp])[] = [
  ['a trace id of zeros', () => ({ traceId: '0'.repeat(32) }), 'the trace id is missing or all zeros'],
  ['a span id of zeros', () => ({ spanId: '0'.repeat(16) }), 'the span id is missing or all zeros'],
  ['no trace id', () => ({ traceId: '' }), 'the trace id is missing or all zeros'],
  ['a trace id of 15 bytes', () => ({ traceId: '1'.repeat(30) }), 'the trace id is not 16 bytes'],
  ['a trace id of 17 bytes', () => ({ traceId: '1'.repeat(34) }), 'the trace id is not 16 bytes'],
  ['a span id of 4 bytes', () => ({ spanId: '1'.repeat(8) }), 'the span id is not 8 bytes'],
  ["a parent's id of 9 bytes", () => ({ parentSpanId: '1'.repeat(18) }), 'the id of the parent is not 8 bytes'],
  ['an end before the start', () => ({ endTimeUnixNano: String(now() - DAY) }), 'the span ends before it begins'],
  ['no start', () => ({ startTimeUnixNano: '0' }), 'start'],
  [
    'times after 2261',
    () => ({ startTimeUnixNano: '18446744073709551000', endTimeUnixNano: '18446744073709551001' }),
    '_time is after the year 2261',
  ],
  [
    '1,001 attributes',
    () => ({ attributes: many(1001, (index) => ({ key: `k${String(index)}`, value: { intValue: '1' } })) }),
    'more than 1000 attributes',
  ],
  ['depth 65', () => ({ attributes: [{ key: 'deep', value: nested(65) }] }), 'nested deeper than 64 levels'],
];

describe('spans that cannot be taken', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  const post = (body: string | Buffer, type: string, path = '/v1/traces'): ReturnType<Instance['call']> =>
    instance.call('POST', `${instance.ingest}${path}`, body, { Authorization: `Bearer ${tenant.key}`, 'Content-Type': type });
  type Trace = { readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly SpanJson[] }[] }[] };
  const stored = async (traceId: string): Promise<SpanJson> => {
    const path = `${instance.app}/api/v1/tenants/${String(tenant.id)}/traces/${traceId}`;
    const { body } = await until('the trace', () => instance.call('GET', path, undefined, { Authorization: `Bearer ${tenant.key}` }), ({ status }) => status === 200); // prettier-ignore
    return (body as Trace).resourceSpans[0]?.scopeSpans[0]?.spans[0] ?? {};
  };

  for (const [what, more, reason] of REJECTED)
    it(`${what}: it alone is rejected, with its reason, in both encodings`, async () => {
      const good = [span(), span()];
      const [json, protobuf] = [JSON.stringify(requestOf([span(more()), good[0] ?? {}])), protobufOf(more(), good[1] ?? {})];
      const answer = await post(json, 'application/json');
      expect(answer.status).to.equal(200);
      const { partialSuccess } = answer.body as { partialSuccess: { rejectedSpans: unknown; errorMessage: string } };
      expect(Number(partialSuccess.rejectedSpans)).to.equal(1);
      expect(partialSuccess.errorMessage).to.contain(reason);
      expect((await post(protobuf, 'application/x-protobuf')).status).to.equal(200);
      for (const { traceId, spanId } of good) expect((await stored(String(traceId)))['spanId']).to.equal(spanId);
    });

  it('a body that cannot be read is a 400, in each encoding and of Zipkin, and nothing of it is taken', async () => {
    const good = span();
    const json = JSON.stringify(requestOf([good]));
    const bodies: readonly (readonly [string | Buffer, string, string])[] = [
      [json.slice(0, -3), 'application/json', '/v1/traces'],
      [tracesProtobuf(requestOf([good])).subarray(0, -3), 'application/x-protobuf', '/v1/traces'],
      ['[{"traceId":"1","id":"2"', 'application/json', '/api/v2/spans'],
    ];
    for (const [body, type, path] of bodies) expect((await post(body, type, path)).status, String(body)).to.equal(400);
    const path = `${instance.app}/api/v1/tenants/${String(tenant.id)}/traces/${String(good['traceId'])}`;
    expect((await instance.call('GET', path, undefined, { Authorization: `Bearer ${tenant.key}` })).status).to.equal(404);
  });

  it('more than 1,024 events or 128 links are cut, and counted as dropped', async () => {
    const cut = span({
      events: many(1030, (index) => ({ timeUnixNano: String(index + 1), name: `e${String(index)}` })),
      links: many(130, () => ({ traceId: id(32), spanId: id(16) })),
      ...{ droppedEventsCount: 3, droppedLinksCount: 4 },
    });
    const { status, body } = await post(JSON.stringify(requestOf([cut])), 'application/json');
    expect([status, (body as { partialSuccess?: object }).partialSuccess ?? {}]).to.deep.equal([200, {}]);
    const { events, links, droppedEventsCount, droppedLinksCount } = (await stored(String(cut['traceId']))) as Record<string, unknown>;
    expect([(events as unknown[]).length, (links as unknown[]).length]).to.deep.equal([1024, 128]);
    expect([droppedEventsCount, droppedLinksCount]).to.deep.equal([9, 6]);
  });
});

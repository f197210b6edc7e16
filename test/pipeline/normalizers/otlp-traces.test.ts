import { expect } from 'chai';
import fc from 'fast-check';
import { otlpTraces } from '../../../pipeline/normalizers/otlp-traces.ts';
import { MAX_EVENTS, MAX_LINKS } from '../../../pipeline/traces/span-draft.ts';
import { extent } from '../../extent.ts';
import { requestOf, tracesProtobuf, type AnyValue, type SpanJson, type TracesJson } from '../../fixtures/otlp/traces.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';
import { takeSpans, type SpanOptions, type TakenSpans } from '../traces/take-spans.ts';

const PROTOBUF = { contentType: 'application/x-protobuf' };
const TRACE = '5b8efff798038103d269b633813fc60c';
const START = RECEIVED_AT - 1_000_000_000n;

const span = (more: SpanJson = {}): SpanJson => ({
  ...{ traceId: TRACE, spanId: 'eee19b7ec3c1b174', name: 'work', kind: 2 },
  ...{ startTimeUnixNano: String(START), endTimeUnixNano: String(START + 5n) },
  ...more,
});

function taken(body: string | Buffer, options: SpanOptions = {}): TakenSpans {
  const result = takeSpans(otlpTraces, body, options);
  if ('status' in result) throw new Error(result.detail);
  return result;
}
const ofJson = (request: TracesJson, options: SpanOptions = {}): TakenSpans => taken(JSON.stringify(request), options);
const ofProtobuf = (request: TracesJson, options: SpanOptions = {}): TakenSpans =>
  taken(tracesProtobuf(request), { ...PROTOBUF, ...options });

/** What both encodings make of a request, which must be the same. */
function both(request: TracesJson, options: SpanOptions = {}): TakenSpans {
  const [json, protobuf] = [ofJson(request, options), ofProtobuf(request, options)];
  expect(protobuf.entries).to.deep.equal(json.entries);
  expect(protobuf.rejected.map(({ index, reason }) => [index, reason])).to.deep.equal(
    json.rejected.map(({ index, reason }) => [index, reason]),
  );
  return json;
}
const reasonsOf = ({ rejected }: TakenSpans): string[] => rejected.map(({ reason }) => reason);

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('', 'é"\\\n\u0000', '__proto__', 'x'.repeat(2000)));
const hex = (bytes: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((found) => Buffer.from([...found.subarray(1), 1]).toString('hex'));
const count = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const { value } = fc.letrec<{ value: AnyValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text.map((stringValue) => ({ stringValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((number) => ({ intValue: String(number) })),
    fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Object.is(one, -0)), fc.constantFrom('NaN', 'Infinity', '-Infinity')).map((doubleValue) => ({ doubleValue })), // prettier-ignore
    fc.uint8Array({ maxLength: 9 }).map((bytes) => ({ bytesValue: Buffer.from(bytes).toString('base64') })),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => ({ arrayValue: { values } })),
    fc.array(fc.record({ key: text, value: tie('value') }), { maxLength: 3 }).map((values) => ({ kvlistValue: { values } })),
    fc.constant({}),
  ),
}));
const attributes = fc.array(fc.record({ key: text, value }), { maxLength: 4 });
const nanos = fc.bigInt({ min: 0n, max: 10n ** 18n });
const spans = fc.record(
  {
    ...{ traceId: hex(16), spanId: hex(8), parentSpanId: hex(8), traceState: text, name: text, kind: fc.integer({ min: 0, max: 7 }) },
    startTimeUnixNano: nanos.map((time) => String(START - time)),
    endTimeUnixNano: nanos.map((time) => String(START + time)),
    ...{ attributes, droppedAttributesCount: count, droppedEventsCount: count, droppedLinksCount: count, flags: count },
    events: fc.array(fc.record({ timeUnixNano: nanos.map(String), name: text, attributes, droppedAttributesCount: count }), {
      maxLength: 2,
    }),
    links: fc.array(
      fc.record({ traceId: hex(16), spanId: hex(8), traceState: text, attributes, droppedAttributesCount: count, flags: count }),
      { maxLength: 2 },
    ),
    status: fc.record({ message: text, code: fc.integer({ min: 0, max: 3 }) }),
  },
  { requiredKeys: ['traceId', 'spanId', 'startTimeUnixNano', 'endTimeUnixNano'] },
);
const requests = fc.array(
  fc.record({
    resource: fc.record({ attributes, droppedAttributesCount: count }),
    schemaUrl: text,
    scopeSpans: fc.array(
      fc.record({
        scope: fc.record({ name: text, version: text, attributes, droppedAttributesCount: count }),
        schemaUrl: text,
        spans: fc.array(spans, { maxLength: 3 }),
      }),
      { maxLength: 2 },
    ),
  }),
  { maxLength: 2 },
);

describe('normalizer otlp_traces', () => {
  it('makes the same rows of both encodings', () => {
    fc.assert(
      fc.property(requests, (resourceSpans) => {
        const result = both({ resourceSpans });
        const { total } = result;
        expect(reasonsOf(result).filter((reason) => reason !== 'a scope of more than 4096 bytes')).to.deep.equal([]);
        expect(total).to.equal(resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans)).length);
      }),
      { numRuns: extent(75, 2000) },
    );
  });

  it('keeps values that plain JSON does not tell as OTLP writes them, and all others plain', () => {
    const list = (...values: AnyValue[]): AnyValue => ({ arrayValue: { values } });
    const kept = (one: AnyValue): unknown => {
      const [row] = both(requestOf([span({ attributes: [{ key: 'k', value: one }] })])).entries;
      const pairs = row?.['attributes'] as string[][] | undefined;
      return [row?.['attributeTypes'], pairs?.[0]?.[1]];
    };
    for (const [one, type, as] of [
      [{ stringValue: 'a"b' }, 's', 'a"b'],
      [{ boolValue: false }, 'b', 'false'],
      [{ intValue: '-9223372036854775808' }, 'i', '-9223372036854775808'],
      [{ doubleValue: 2 }, 'd', '2'],
      [{ doubleValue: 'NaN' }, 'd', 'NaN'],
      [{ bytesValue: 'AP8=' }, 'y', 'AP8='],
      [{}, 'n', ''],
      [list({ stringValue: 'é' }, { intValue: '2' }, { doubleValue: 2 }, {}), 'v', '["é",2,2.0,null]'],
      [list(), 'v', '[]'],
      [{ kvlistValue: { values: [{ key: '__proto__', value: { boolValue: true } }] } }, 'v', '{"__proto__":true}'],
      [list({ bytesValue: 'AA==' }), 'o', '{"arrayValue":{"values":[{"bytesValue":"AA=="}]}}'],
      [list({ doubleValue: 'Infinity' }), 'o', '{"arrayValue":{"values":[{"doubleValue":"Infinity"}]}}'],
    ] as const)
      expect(kept(one)).to.deep.equal([type, as]);
  });

  it('takes ids as bytes, in hexadecimal of any case, and in base64', () => {
    const id = (more: SpanJson): unknown => {
      const [row] = ofJson(requestOf([span(more)])).entries;
      return [row?.['traceId'], row?.['spanId']];
    };
    const wanted = [TRACE, 'eee19b7ec3c1b174'];
    const base64 = (hexId: string): string => Buffer.from(hexId, 'hex').toString('base64');
    expect(id({})).to.deep.equal(wanted);
    expect(id({ traceId: TRACE.toUpperCase(), spanId: 'EEE19b7ec3C1B174' })).to.deep.equal(wanted);
    expect(id({ traceId: base64(TRACE), spanId: base64('eee19b7ec3c1b174') })).to.deep.equal(wanted);
    expect(id({ traceId: base64(TRACE).replaceAll('=', ''), spanId: base64('eee19b7ec3c1b174').replaceAll('=', '') })).to.deep.equal(
      wanted,
    );
  });

  it('rejects spans by themselves, with the same reasons in both encodings', () => {
    const at = (time: bigint): string => String(RECEIVED_AT + time);
    const DAY = 86_400_000_000_000n;
    const result = both(
      requestOf([
        span(),
        span({ traceId: '00'.repeat(16) }),
        span({ spanId: '00'.repeat(8) }),
        span({ traceId: 'ab' }),
        span({ spanId: 'abcd' }),
        span({ parentSpanId: 'ab' }),
        span({ parentSpanId: '00'.repeat(8) }),
        span({ endTimeUnixNano: String(START - 1n) }),
        span({ startTimeUnixNano: '0' }),
        span({ startTimeUnixNano: at(-15n * DAY) }),
        span({ endTimeUnixNano: at(3n * DAY) }),
        span({ attributes: Array.from({ length: 1001 }, (_, n) => ({ key: String(n), value: {} })) }),
        span({ attributes: Array.from({ length: 1000 }, (_, n) => ({ key: String(n), value: {} })) }),
        span({ events: [{ attributes: Array.from({ length: 1001 }, (_, n) => ({ key: String(n), value: {} })) }] }),
      ]),
      { retentionDays: 14 },
    );
    expect(reasonsOf(result)).to.deep.equal([
      ...['the trace id is missing or all zeros', 'the span id is missing or all zeros', 'the trace id is not 16 bytes'],
      ...['the span id is not 8 bytes', 'the id of the parent is not 8 bytes', 'the span ends before it begins'],
      ...['_time is not a time: the span has no start time', '_time is older than the retention of 14 days'],
      ...['_time is more than 2 days ahead', 'more than 1000 attributes', 'more than 1000 attributes of an event or a link'],
    ]);
    expect(result.entries).to.have.length(3);
    expect(result.ack.body).to.deep.equal({
      partialSuccess: {
        rejectedSpans: '11',
        errorMessage: '11 of 14 spans were rejected; the first, number 1: the trace id is missing or all zeros',
      },
    });
  });

  it('cuts events and links, and counts them as dropped', () => {
    const events = Array.from({ length: MAX_EVENTS + 3 }, (_, n) => ({ timeUnixNano: '1', name: String(n) }));
    const links = Array.from({ length: MAX_LINKS + 2 }, () => ({ traceId: TRACE, spanId: 'eee19b7ec3c1b174' }));
    const [row] = both(requestOf([span({ events, links, droppedEventsCount: 4, droppedLinksCount: 2 ** 32 - 1 })])).entries;
    expect(row).to.include({ droppedEvents: 7, droppedLinks: 2 ** 32 - 1 });
    expect(JSON.parse(String(row?.['events']))).to.deep.equal(events.slice(0, MAX_EVENTS));
    expect(JSON.parse(String(row?.['links']))).to.have.length(MAX_LINKS);
  });

  it('sends the spans of a trace to one partition of the shard, and different ones to all', () => {
    const partitions = [4, 7, 9, 11];
    const ids = Array.from({ length: 200 }, (_, n) => Buffer.alloc(16, `trace ${String(n)}`).toString('hex'));
    const { entries } = both(requestOf(ids.flatMap((traceId) => [span({ traceId }), span({ traceId, spanId: '0000000000000001' })])), {
      partitions,
    });
    expect(entries).to.have.length(400);
    // rows come by partition: both spans of a trace stand in the same one, so next to each other
    for (let row = 0; row < entries.length; row += 2) expect(entries[row]?.['traceId']).to.equal(entries[row + 1]?.['traceId']);
  });

  it('reads a message whose fields come in any order, and whose resource comes last', () => {
    const scopeSpans = [{ spans: [span({ attributes: [{ value: { stringValue: 'v' }, key: 'k' }] })], scope: { version: '2', name: 's' } }];
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'late' } }] };
    const [row] = ofJson({ resourceSpans: [{ scopeSpans, resource }] }).entries;
    expect(row).to.include({ service: 'late', scope: 's', scopeVersion: '2' });
    expect(row?.['attributes']).to.deep.equal([['k', 'v']]);
    const field = (tag: number, content: Buffer): Buffer => Buffer.concat([Buffer.from([tag, content.length]), content]);
    const fixed = (tag: number, time: bigint): Buffer => {
      const bytes = Buffer.alloc(9, tag);
      bytes.writeBigUInt64LE(time, 1);
      return bytes;
    };
    const ids = [field(0x12, Buffer.alloc(8, 7)), field(0x0a, Buffer.alloc(16, 5))];
    const own = Buffer.concat([fixed(0x41, START + 1n), fixed(0x39, START), ...ids]);
    const service = field(0x0a, Buffer.concat([field(0x12, field(0x0a, Buffer.from('late'))), field(0x0a, Buffer.from('service.name'))]));
    const late = field(0x0a, Buffer.concat([field(0x12, Buffer.concat([field(0x12, own), field(0x0a, field(0x0a, Buffer.from('s')))])), field(0x0a, service)])); // prettier-ignore
    expect(taken(late, PROTOBUF).entries).to.deep.equal([
      {
        ...{ time: String(START), duration: '1', traceId: '05'.repeat(16), spanId: '07'.repeat(8), service: 'late', scope: 's' },
        ...{ resource: '{"service.name":"late"}', resourceTypes: 's' },
      },
    ]);
  });
});

describe('normalizer otlp_traces: hostile bodies', () => {
  const nested = (depth: number): string => `${'{"arrayValue":{"values":['.repeat(depth)}{}${']}}'.repeat(depth)}`;
  const withValue = (json: string): string =>
    JSON.stringify(requestOf([span({ attributes: [{ key: 'k', value: { stringValue: '@' } }] }), span()])).replace(
      '{"stringValue":"@"}',
      json,
    );

  it('rejects a span that is nested 10,000 deep, or 65, and takes one of 64', () => {
    expect(reasonsOf(taken(withValue(nested(10_000))))).to.deep.equal(['nested deeper than 64 levels']);
    expect(reasonsOf(taken(withValue(nested(64))))).to.deep.equal(['nested deeper than 64 levels']);
    expect(taken(withValue(nested(63))).entries).to.have.length(2);
    const deep = (depth: number): Buffer => {
      let bytes: Buffer = Buffer.alloc(0);
      const wrapped = (tag: number, content: Buffer): Buffer => {
        const length: number[] = [];
        let rest = content.length;
        for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
        return Buffer.concat([Buffer.from([tag, ...length, rest]), content]);
      };
      for (let level = 0; level < depth; level++) bytes = wrapped(0x2a, wrapped(0x0a, bytes));
      return wrapped(0x0a, wrapped(0x12, wrapped(0x12, wrapped(0x4a, wrapped(0x12, bytes)))));
    };
    expect(reasonsOf(taken(deep(3000), PROTOBUF))).to.deep.equal(['nested deeper than 64 levels']);
    expect(reasonsOf(taken(deep(63), PROTOBUF))).to.deep.equal(['the trace id is missing or all zeros']);
  });

  it('rejects words that a part would keep in a dictionary of all tenants, where they are long', () => {
    const long = 'x'.repeat(4097);
    const reasonOf = (one: SpanJson, resource: Readonly<Record<string, unknown>> = {}): readonly string[] =>
      reasonsOf(both(requestOf([span(one)], resource)));
    expect(reasonOf({ name: long })).to.deep.equal(['a name of more than 4096 bytes']);
    expect(reasonOf({ name: long.slice(1) })).to.deep.equal([]);
    expect(reasonOf({ attributes: [{ key: long, value: {} }] })).to.deep.equal(['a name of more than 4096 bytes']);
    const service = (value: string): Readonly<Record<string, unknown>> => ({
      attributes: [{ key: 'service.name', value: { stringValue: value } }],
    });
    expect(reasonOf({}, service(long))).to.deep.equal(['a service of more than 4096 bytes']);
    expect(reasonOf({}, service(long.slice(1)))).to.deep.equal([]);
    // a command line is no reason to lose a span
    const wide = { attributes: [{ key: 'process.command_line', value: { stringValue: long } }] };
    const [row] = ofJson(requestOf([span()], wide)).entries;
    expect([row?.['resource'], row?.['longResource']]).to.deep.equal([undefined, JSON.stringify({ 'process.command_line': long })]);
  });

  it('rejects a span of a million attributes, and keeps the next', () => {
    const many = `[${'{},'.repeat(999_999)}{}]`;
    const body = JSON.stringify(requestOf([span({ attributes: ['@'] }), span()])).replace('["@"]', many);
    const result = taken(body);
    expect(reasonsOf(result)).to.deep.equal(['more than 1000 attributes']);
    expect(result.entries).to.have.length(1);
    const empty = taken(
      Buffer.concat([Buffer.from('0ac2843d12be843d12ba843d', 'hex'), Buffer.from('4a00'.repeat(499_997), 'hex')]),
      PROTOBUF,
    );
    expect(reasonsOf(empty)).to.deep.equal(['more than 1000 attributes']);
  });

  it('answers a protobuf body that is cut anywhere by 400, or takes what is whole', () => {
    const whole = tracesProtobuf(
      requestOf(
        [span({ attributes: [{ key: 'a', value: { arrayValue: { values: [{ doubleValue: 1 }, { kvlistValue: { values: [] } }] } } }], events: [{ timeUnixNano: '1', name: 'e' }], links: [{ traceId: TRACE }], status: { code: 2 } })], // prettier-ignore
        { attributes: [{ key: 'service.name', value: { stringValue: 's' } }] },
      ),
    );
    for (let length = 1; length < whole.length; length++) {
      const result = takeSpans(otlpTraces, whole.subarray(0, length), PROTOBUF);
      expect('status' in result ? result.status : 200, String(length)).to.equal(400);
    }
    expect(taken(whole, PROTOBUF).entries).to.have.length(1);
    expect(taken(Buffer.alloc(0), PROTOBUF).total).to.equal(0);
  });

  it('answers a body that is no request by 400', () => {
    for (const body of [
      '',
      ' ',
      '[]',
      'null',
      '{',
      '{"resourceSpans":{}}',
      '{"resourceSpans":[7]}',
      '{"resourceSpans":[{"scopeSpans":[{"spans":7}]}]}',
      '{} x',
    ]) {
      const result = takeSpans(otlpTraces, body, { contentType: 'application/json' });
      expect('status' in result ? result.status : body, body).to.equal(400);
    }
    for (const body of [
      '{}',
      '{"resourceSpans":null}',
      '{"resourceSpans":[{}]}',
      '{"unknown":[{"deep":1}],"resourceSpans":[{"scopeSpans":null}]}',
    ])
      expect(taken(body, { contentType: 'application/json' }).total).to.equal(0);
  });

  it('takes a span that was sent twice twice: readers take one', () => {
    expect(both(requestOf([span(), span()])).entries).to.have.length(2);
  });

  it('replaces what is no UTF-8', () => {
    const body = tracesProtobuf(requestOf([span({ name: 'name @', attributes: [{ key: 'key @', value: { stringValue: 'value @' } }] })]));
    const [row] = taken(Buffer.from(body.toString('latin1').replaceAll('@', '\u00ff'), 'latin1'), PROTOBUF).entries;
    expect([row?.['name'], row?.['attributes']]).to.deep.equal(['name \ufffd', [['key \ufffd', 'value \ufffd']]]);
  });

  it('bounds what a request becomes', () => {
    const many = both(requestOf(Array.from({ length: 50 }, () => span())), { maxRowBytes: 2000 });
    expect(new Set(reasonsOf(many))).to.deep.equal(new Set(['the spans before it take more than 2000 bytes as they are stored']));
    expect(many.entries.length).to.be.within(10, 30);
    const events = [{ name: '\u0001'.repeat(1_400_000) }];
    expect(reasonsOf(both(requestOf([span({ events })])))).to.deep.equal(['longer than 8000000 bytes as it is stored']);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { otlpLogs } from '../../../pipeline/normalizers/otlp-logs.ts';
import { textOf, type FieldValue } from '../../../pipeline/core/entry.ts';
import { normalize, type Result } from './normalize.ts';
import { otlpJson, otlpProtobuf, type Attributes, type AttributeValue, type TestRecord, type TestResource } from './otlp-request.ts';
import { bytesField, varintField } from './protobuf-writer.ts';
import { extent } from '../../extent.ts';

const PROTOBUF = { contentType: 'application/x-protobuf' };
const JSON_TYPE = { contentType: 'application/json' };
const TIME = 1_795_217_398_098_123_456n; // 2026-11-20T23:29:58.098123456Z

const shown = (value: FieldValue): unknown => (typeof value === 'string' ? value : { json: value.text });
const entriesOf = (result: ReturnType<typeof normalize>): Record<string, unknown>[] => {
  if (!('entries' in result)) throw new Error(result.detail);
  return result.entries.map((entry) => Object.fromEntries([...entry].map(([name, value]) => [name, shown(value)])));
};
const resultOf = (result: ReturnType<typeof normalize>): Result => {
  if (!('entries' in result)) throw new Error(result.detail);
  return result;
};
const attributes = (record: Record<string, AttributeValue>): Attributes => new Map(Object.entries(record));
const oneRecord = (record: TestRecord, resource?: Attributes): TestResource[] => [
  { ...(resource !== undefined && { attributes: resource }), scopes: [{ records: [record] }] },
];

describe('normalizer otlp_logs', () => {
  /** One record, in both encodings, becomes this entry; without a resource the stream is empty. */
  const ok = (name: string, record: TestRecord, expected: Record<string, unknown>, resource?: Attributes): void => {
    it(name, () => {
      const request = oneRecord({ time: TIME, ...record }, resource);
      const wanted = { _time: '2026-11-20T23:29:58.098123456Z', ...(resource === undefined && { _stream: '{}' }), ...expected };
      const protobuf = entriesOf(normalize(otlpLogs, otlpProtobuf(request), PROTOBUF));
      expect(protobuf, 'protobuf').to.deep.equal([wanted]);
      expect(entriesOf(normalize(otlpLogs, otlpJson(request), JSON_TYPE)), 'JSON').to.deep.equal([wanted]);
    });
  };
  ok('takes a body that is text', { body: 'a "b" \\ \n 漢 🚀' }, { _msg: 'a "b" \\ \n 漢 🚀' });
  ok('takes the observed time where there is not a valid time', { time: 0n, observed: TIME, body: 'a' }, { _msg: 'a' });
  ok('takes the time of arrival where there is none', { time: 0n, body: 'a' }, { _msg: 'a', _time: '2026-11-21T14:00:00Z' });
  ok(
    'reads the level from the severity number',
    { body: 'a', severityNumber: 14, severityText: 'Warnung' },
    { _msg: 'a', level: 'warn', severity_number: { json: '14' }, severity_text: 'Warnung' },
  );
  ok(
    'reads the level from the text where there is no number',
    { body: 'a', severityNumber: 0, severityText: 'WARNING' },
    { _msg: 'a', level: 'warning', severity_text: 'WARNING' },
  );
  ok('leaves a number that is none', { body: 'a', severityNumber: 99 }, { _msg: 'a', severity_number: { json: '99' } });
  ok(
    'keeps the level that the producer set',
    { body: 'a', severityNumber: 9, attributes: attributes({ level: 'notice' }) },
    { _msg: 'a', level: 'notice', severity_number: { json: '9' } },
  );
  ok(
    'keeps the types of attributes',
    {
      body: 'a',
      attributes: attributes({
        text: '5',
        yes: true,
        no: false,
        int: 5n,
        min: -(2n ** 63n),
        max: 2n ** 63n - 1n,
        ms: 1_795_217_398_098n,
        half: 0.5,
      }),
    },
    {
      _msg: 'a',
      text: '5',
      yes: { json: 'true' },
      no: { json: 'false' },
      int: { json: '5' },
      min: { json: '-9223372036854775808' },
      max: { json: '9223372036854775807' },
      ms: { json: '1795217398098' },
      half: { json: '0.5' },
    },
  );
  ok(
    'keeps numbers that JSON lacks as text',
    { body: 'a', attributes: attributes({ nan: NaN, inf: Infinity, minus: -Infinity }) },
    { _msg: 'a', nan: 'NaN', inf: 'Infinity', minus: '-Infinity' },
  );
  ok('gives bytes in base64', { body: 'a', attributes: attributes({ bytes: Buffer.from([0, 255]) }) }, { _msg: 'a', bytes: 'AP8=' });
  ok(
    'keeps lists as JSON text, and flattens pairs',
    {
      body: 'a',
      attributes: attributes({
        list: ['x', 5n, 0.5, true, attributes({ k: 2n ** 60n }), [Buffer.from('b'), NaN]],
        nested: attributes({ a: attributes({ b: 1n, c: ['y'] }), d: 'e' }),
        empty: [],
      }),
    },
    {
      _msg: 'a',
      list: '["x",5,0.5,true,{"k":1152921504606846976},["Yg==","NaN"]]',
      'nested.a.b': { json: '1' },
      'nested.a.c': '["y"]',
      'nested.d': 'e',
      empty: '[]',
    },
  );
  ok('drops empty texts', { body: 'a', attributes: attributes({ x: '' }) }, { _msg: 'a' });
  ok(
    'takes names that are special elsewhere',
    { body: 'a', attributes: attributes({ ['__proto__']: 'p', constructor: 'c', 'a"b\\': '1', 漢: '2' }) },
    { _msg: 'a', ['__proto__']: 'p', constructor: 'c', 'a"b\\': '1', 漢: '2' },
  );
  ok(
    'flattens a body of pairs, and finds its message',
    {
      body: attributes({ message: 'failed', reason: attributes({ code: 'E7' }), n: 2n }),
      attributes: attributes({ message: 'other', n: 1n }),
    },
    { _msg: 'failed', 'reason.code': 'E7', message: 'other', n: { json: '2' } },
  );
  ok('gives the JSON text of a body of pairs without a message', { body: attributes({ a: 1n }) }, { _msg: '{"a":1}', a: { json: '1' } });
  ok('gives the JSON text of a body that is a list', { body: ['x', 1n] }, { _msg: '["x",1]' });
  ok('gives the text of a body that is a number', { body: 2n ** 60n }, { _msg: '1152921504606846976' });
  ok('gives the text of a body that is a boolean', { body: false }, { _msg: 'false' });
  ok('gives a body of bytes in base64', { body: Buffer.from('hello') }, { _msg: 'aGVsbG8=' });
  ok(
    "takes an event's name for a message that is missing",
    { eventName: 'user.login', attributes: attributes({ 'exception.message': 'boom' }) },
    { _msg: 'user.login', 'event.name': 'user.login', 'exception.message': 'boom' },
  );
  ok(
    'takes the message of an exception, where there is no event',
    { body: '', attributes: attributes({ 'exception.message': 'boom' }) },
    { _msg: 'boom', 'exception.message': 'boom' },
  );
  ok(
    'gives ids in lower-case hexadecimal',
    { body: 'a', traceId: Buffer.from('5B8EFFF798038103D269B633813FC60C', 'hex'), spanId: Buffer.from('EEE19B7EC3C1B174', 'hex') },
    { _msg: 'a', trace_id: '5b8efff798038103d269b633813fc60c', span_id: 'eee19b7ec3c1b174' },
  );
  ok('drops ids of zeros', { body: 'a', traceId: Buffer.alloc(16), spanId: Buffer.alloc(8) }, { _msg: 'a' });
  ok('drops empty ids', { body: 'a', traceId: Buffer.alloc(0), spanId: Buffer.alloc(0) }, { _msg: 'a' });
  ok(
    'makes the resource the stream, and its service the service',
    { body: 'a', attributes: attributes({ 'host.name': 'h2', x: '1' }) },
    {
      _msg: 'a',
      _stream: '{host.name="h1",process.pid="7",service="shop",service.name="shop"}',
      service: 'shop',
      'service.name': 'shop',
      'host.name': 'h2',
      'process.pid': { json: '7' },
      x: '1',
    },
    attributes({ 'service.name': 'shop', 'host.name': 'h1', 'process.pid': 7n }),
  );
  ok(
    'leaves a service that the producer names',
    { body: 'a' },
    { _msg: 'a', _stream: '{service="own",service.name="shop"}', service: 'own', 'service.name': 'shop' },
    attributes({ 'service.name': 'shop', service: 'own' }),
  );
  ok(
    'takes the service of a record without a resource',
    { body: 'a', attributes: attributes({ 'service.name': 'shop' }) },
    { _msg: 'a', service: 'shop', 'service.name': 'shop' },
  );

  const both = (name: string, request: TestResource[], check: (result: Result) => void): void => {
    it(`${name} (protobuf)`, () => check(resultOf(normalize(otlpLogs, otlpProtobuf(request), PROTOBUF))));
    it(`${name} (JSON)`, () => check(resultOf(normalize(otlpLogs, otlpJson(request), JSON_TYPE))));
  };
  both(
    'keeps records, scopes and resources apart',
    [
      {
        attributes: attributes({ r: '1' }),
        scopes: [
          {
            name: 's1',
            version: 'v1',
            attributes: attributes({ k: 'x' }),
            records: [
              { time: 1n, body: 'a', attributes: attributes({ own: '1' }) },
              { time: 2n, body: 'b' },
            ],
          },
          { records: [{ time: 3n, body: 'c' }] },
          { name: 's3', records: [] },
        ],
      },
      { scopes: [{ records: [{ time: 4n, body: 'd' }] }] },
    ],
    (result) => {
      const entries = entriesOf(result).map((entry) => Object.fromEntries(Object.entries(entry).filter(([name]) => name !== '_time')));
      expect(entries).to.deep.equal([
        { _msg: 'a', _stream: '{r="1"}', r: '1', 'scope.name': 's1', 'scope.version': 'v1', 'scope.attributes.k': 'x', own: '1' },
        { _msg: 'b', _stream: '{r="1"}', r: '1', 'scope.name': 's1', 'scope.version': 'v1', 'scope.attributes.k': 'x' },
        { _msg: 'c', _stream: '{r="1"}', r: '1' },
        { _msg: 'd', _stream: '{}' },
      ]);
    },
  );
  both(
    'rejects a record by itself',
    oneRecord({ body: 'a', time: 2n ** 64n - 1n }).concat(oneRecord({ body: 'b', time: TIME })),
    ({ entries, rejected, ack }) => {
      expect(entries).to.have.length(1);
      expect(rejected.map(({ reason }) => reason)).to.match(/^_time is after the year 2261/);
      expect(ack.status).to.equal(200);
    },
  );
  const deep = (levels: number): AttributeValue => (levels === 0 ? 'x' : [deep(levels - 1)]);
  both('takes values as deep as an entry may be', oneRecord({ body: 'a', attributes: attributes({ deep: deep(63) }) }), (result) =>
    expect(result.entries[0]?.get('deep')).to.equal(`${'['.repeat(63)}"x"${']'.repeat(63)}`),
  );
  both('rejects values that are deeper', oneRecord({ body: 'a', attributes: attributes({ deep: deep(65) }) }), ({ rejected }) =>
    expect(rejected[0]?.reason).to.equal('nested deeper than 64 levels'),
  );
  both(
    'rejects a record of too many attributes',
    oneRecord({ body: 'a', attributes: new Map(Array.from({ length: 1001 }, (_, i) => [`f${String(i)}`, 'x'])) }),
    ({ rejected }) => expect(rejected[0]?.reason).to.equal('more than 1000 fields'),
  );
  both(
    'bounds the labels of a stream, and cuts their values; the fields stay whole',
    oneRecord(
      { body: 'a' },
      new Map([...Array.from({ length: 80 }, (_, i) => [`l${String(i + 100)}`, 'x'] as const), ['big', 'y'.repeat(3000)]]),
    ),
    ({ entries: [entry] }) => {
      expect(textOf(entry?.get('_stream')).split(',')).to.have.length(64);
      expect(entry?.get('_stream'))
        .to.include(`{big="${'y'.repeat(2048)}",l100="x"`)
        .and.not.include('l163');
      expect(entry?.get('big')).to.have.length(3000);
      expect(entry?.get('l179')).to.equal('x');
    },
  );
  both(
    'bounds what a large resource of many records becomes',
    [{ attributes: attributes({ big: 'x'.repeat(1e6) }), scopes: [{ records: Array.from({ length: 100 }, () => ({ body: 'a' })) }] }],
    ({ entries, rejected }) => {
      expect(entries.length).to.be.within(20, 40);
      expect(rejected).to.have.length(100 - entries.length);
      expect(rejected[0]?.reason).to.match(/^the fields shared by entries would take more than 33554432 bytes/);
    },
  );

  it('gives the same entries for both encodings', () => {
    const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: 'grapheme' }),
        fc.boolean(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.double(),
        fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
      ),
    }));
    const some = fc.array(fc.tuple(fc.oneof(fc.string(), fc.constantFrom('message', '_msg', 'level', 'service.name')), value), {
      maxLength: 5,
    });
    const pairs = some.map((list) => new Map(list));
    const record: fc.Arbitrary<TestRecord> = fc.record(
      {
        time: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        observed: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        severityNumber: fc.nat(30),
        severityText: fc.string(),
        body: value,
        attributes: pairs,
        traceId: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
        spanId: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
        eventName: fc.string(),
      },
      { requiredKeys: [] },
    );
    const scope = fc.record({ name: fc.string(), version: fc.string(), attributes: pairs, records: fc.array(record, { maxLength: 3 }) });
    const resource = fc.record({ attributes: pairs, scopes: fc.array(scope, { maxLength: 2 }) });
    fc.assert(
      fc.property(fc.array(resource, { minLength: 1, maxLength: 2 }), (request) => {
        const protobuf = resultOf(normalize(otlpLogs, otlpProtobuf(request), PROTOBUF));
        const json = resultOf(normalize(otlpLogs, otlpJson(request), JSON_TYPE));
        expect(entriesOf(json)).to.deep.equal(entriesOf(protobuf));
        const reasons = ({ rejected }: Result): unknown => rejected.map(({ index, reason }) => [index, reason]);
        expect(reasons(json)).to.deep.equal(reasons(protobuf));
      }),
      { numRuns: extent(100, 300) },
    );
  });

  describe('answers', () => {
    const half = oneRecord({ body: 'a', time: 2n ** 64n - 1n }).concat(oneRecord({ body: 'b', time: TIME }));
    const reason = '1 of 2 log records were rejected; the first, number 0: _time is after the year 2261';
    it('protobuf with nothing where nothing was rejected', () => {
      const { ack } = resultOf(normalize(otlpLogs, otlpProtobuf(oneRecord({ body: 'a' })), PROTOBUF));
      expect(ack).to.deep.equal({ status: 200, headers: { 'Content-Type': 'application/x-protobuf' }, body: Buffer.alloc(0) });
    });
    it('protobuf with a partial success', () => {
      const { ack } = resultOf(normalize(otlpLogs, otlpProtobuf(half), PROTOBUF));
      expect(ack.body).to.deep.equal(bytesField(1, varintField(1, 1), bytesField(2, reason)));
    });
    it('JSON', () => {
      const { ack } = resultOf(normalize(otlpLogs, otlpJson(oneRecord({ body: 'a' })), JSON_TYPE));
      expect(ack).to.deep.equal({ status: 200, headers: { 'Content-Type': 'application/json' }, body: { partialSuccess: {} } });
    });
    it('JSON with a partial success', () => {
      const { ack } = resultOf(normalize(otlpLogs, otlpJson(half), JSON_TYPE));
      expect(ack.body).to.deep.equal({ partialSuccess: { rejectedLogRecords: '1', errorMessage: reason } });
    });
    it('an empty protobuf body', () => {
      expect(resultOf(normalize(otlpLogs, '', PROTOBUF)).ack.status).to.equal(200);
      expect(resultOf(normalize(otlpLogs, '')).ack.status).to.equal(200);
    });
  });

  describe('tells the encoding', () => {
    it('also of protobuf that looks like JSON', () => {
      const body = Buffer.concat([Buffer.from([0x0a, 123, 0x0a, 34]), bytesField(9, 'x'.repeat(32)), bytesField(9, 'x'.repeat(85))]);
      expect(body.toString('latin1', 0, 4)).to.equal('\n{\n"');
      expect(resultOf(normalize(otlpLogs, body, PROTOBUF)).total).to.equal(0);
      expect(resultOf(normalize(otlpLogs, body)).total).to.equal(0);
    });
    const one = oneRecord({ body: 'a' });
    const type = (body: string | Buffer, contentType: string): unknown =>
      resultOf(normalize(otlpLogs, body, { contentType })).ack.headers?.['Content-Type'];
    it('by the body, where no media type was sent or the wrong one', () => {
      for (const contentType of ['', 'text/plain', 'application/x-protobuf']) {
        expect(type(otlpJson(one), contentType)).to.equal('application/json');
        expect(type(`\uFEFF \r\n${otlpJson(one)}`, contentType)).to.equal('application/json');
      }
      for (const contentType of ['', 'text/plain', 'application/json']) {
        expect(type(otlpProtobuf(one), contentType)).to.equal('application/x-protobuf');
      }
    });
  });
});

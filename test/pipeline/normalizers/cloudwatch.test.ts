import { expect } from 'chai';
import { extent } from '../../extent.ts';
import { cpuCost } from '../../fakes/cpu-cost.ts';
import { gzipSync } from 'node:zlib';
import { textOf } from '../../../pipeline/core/entry.ts';
import { cloudwatch } from '../../../pipeline/normalizers/cloudwatch.ts';
import { messages, normalize, type RequestOptions, type Result } from './normalize.ts';

const TIME = 1_795_217_389_946;
const MEGABYTE = 1_048_576;
type LogEvent = Readonly<Record<string, unknown>>;

const event = (message: unknown, more: LogEvent = {}): LogEvent => ({ id: '1', timestamp: TIME, message, ...more });
const subscription = (logEvents: readonly unknown[], more: object = {}): string =>
  JSON.stringify({
    messageType: 'DATA_MESSAGE',
    owner: '1',
    logGroup: '/aws/lambda/a',
    logStream: 's',
    subscriptionFilters: [],
    ...more,
    logEvents,
  });
const data = (text: string | Buffer): object => ({ data: Buffer.from(text).toString('base64') });
const zipped = (text: string | Buffer): object => data(gzipSync(text));
const firehose = (...records: unknown[]): string => JSON.stringify({ requestId: 'r-1', timestamp: TIME, records });

function taken(body: string, options: RequestOptions = {}): Result {
  const result = normalize(cloudwatch, body, options);
  if (!('entries' in result)) throw new Error(`${String(result.status)} ${result.detail}`);
  return result;
}

describe('normalizer cloudwatch', () => {
  const ok = (name: string, body: string, expected: string[]): void => {
    it(name, () => expect(messages(normalize(cloudwatch, body))).to.deep.equal(expected));
  };
  ok('takes gzipped records', firehose(zipped(subscription([event('a'), event('b')])), zipped(subscription([event('c')]))), [
    'a',
    'b',
    'c',
  ]);
  ok(
    'takes several gzip members',
    firehose(data(Buffer.concat([gzipSync(subscription([event('a')])), gzipSync(subscription([event('b')]))]))),
    ['a', 'b'],
  );
  ok(
    'takes several messages in one record',
    firehose(zipped(`${subscription([event('a')])}\n${subscription([event('b')])}${subscription([event('c')])}`)),
    ['a', 'b', 'c'],
  );
  ok('takes what Firehose has decompressed', firehose(data(subscription([event('a')]))), ['a']);
  ok('takes lines', firehose(data('a\nb {c}\r\n\n')), ['a', 'b {c}']);
  ok('takes JSON lines, and objects one after the other', firehose(data('{"message":"a"}{"x":1}\n{"y":')), [
    '{"message":"a"}',
    '{"x":1}',
    '{"y":',
  ]);
  ok('takes a bare subscription message', subscription([event('a')]), ['a']);
  ok("takes a Lambda function's event", JSON.stringify({ awslogs: zipped(subscription([event('a')])) }), ['a']);
  ok('takes no records', firehose(), []);
  ok(
    'takes a control message as nothing',
    firehose(zipped(subscription([event('CWL CONTROL MESSAGE')], { messageType: 'CONTROL_MESSAGE' }))),
    [],
  );
  ok('cuts line ends', firehose(zipped(subscription([event('a\n'), event('b\r\n'), event('c\\n'), event('\ud83d\n')]))), [
    'a',
    'b',
    'c\\n',
    '\ufffd',
  ]);
  ok('keeps a message that is no text', firehose(zipped(subscription([event({ a: [1] }), event(7)]))), ['{"a":[1]}', '7']);

  it('gives each event the group, the stream and the time', () => {
    const [entry] = taken(firehose(zipped(subscription([event('{"level":"warn","log_group":"x","user":{"id":7}}')])))).entries;
    expect(Object.fromEntries([...(entry ?? [])].map(([name, value]) => [name, textOf(value)]))).to.deep.equal({
      _time: '2026-11-20T23:29:49.946Z',
      _stream: '{}',
      _msg: '{"level":"warn","log_group":"x","user":{"id":7}}',
      level: 'warn',
      owner: '1',
      log_group: '/aws/lambda/a',
      log_stream: 's',
      log_event_id: '1',
      'user.id': '7',
    });
  });
  it("gives each event the delivery stream's attributes, lines too", () => {
    const headers = { 'x-amz-firehose-common-attributes': '{"commonAttributes":{"service":"web","env":"prod","__proto__":"p","n":5}}' };
    const { entries } = taken(firehose(zipped(subscription([event('a')])), data('b')), { headers });
    for (const entry of entries) {
      expect(entry.get('_stream')).to.equal('{env="prod",service="web"}');
      expect(entry.get('__proto__')).to.equal('p');
    }
    expect(entries).to.have.length(2);
  });
  for (const attributes of ['', '{', '[]', 'null', '{"commonAttributes":5}'])
    it(`takes ${JSON.stringify(attributes)} as no attributes`, () => {
      expect(taken(firehose(data('a')), { headers: { 'x-amz-firehose-common-attributes': attributes } }).entries).to.have.length(1);
    });

  it('rejects bad records and events alone', () => {
    const events = [event('a'), 5, { timestamp: TIME }, event('x', { timestamp: 'soon' }), event('b', { timestamp: 0 })];
    const { entries, rejected, ack } = taken(
      firehose({ data: 'é' }, {}, 5, data(Buffer.from('1f8b0800', 'hex')), zipped(subscription(events)), { data: '' }),
    );
    expect(entries.map((entry) => entry.get('_msg'))).to.deep.equal(['a', 'b']);
    expect(rejected.map(({ reason }) => reason)).to.deep.equal([
      'the data of the record is not base64',
      'the record has no data',
      'the record has no data',
      'The gzip stream is corrupt: unexpected end of file.',
      'not a log event with a message',
      'not a log event with a message',
      '_time is not a time: "soon"',
    ]);
    expect(ack.headers).to.deep.equal({ 'X-Rejected-Entries': '7' });
  });
  it('echoes the request id, of the header before that of the body, and the time in milliseconds', () => {
    const headers = { 'x-amz-firehose-request-id': 'r-2' };
    expect(taken(firehose(data('a')), { headers }).ack.body).to.deep.equal({ requestId: 'r-2', timestamp: 1_795_269_600_000 });
    expect(taken(firehose(data('a'))).ack.body).to.deep.equal({ requestId: 'r-1', timestamp: 1_795_269_600_000 });
  });

  const bad = (name: string, body: string, status: number, detail: RegExp): void => {
    it(name, () => {
      const result = normalize(cloudwatch, body);
      expect('status' in result && result.status).to.equal(status);
      expect('status' in result && result.detail).to.match(detail);
    });
  };
  bad('refuses an empty body', '', 400, /empty/);
  bad('refuses what is no JSON', 'hello', 400, /not a JSON object/);
  bad('refuses another JSON object', '{"a":1}', 400, /neither a Firehose request nor a subscription message/);
  bad('refuses a request without a single readable record', firehose({ data: '!' }), 400, /not base64/);
  bad(
    'refuses records that decompress to more than 8 times the cap',
    firehose(zipped(Buffer.alloc(10 * MEGABYTE, 'a\n')), zipped(Buffer.alloc(7 * MEGABYTE, 'a\n'))),
    413,
    /16777216 bytes/,
  );

  describe('hostile records', () => {
    /** Of the cap, and of what may be decompressed: what grows with the square of it is far above its bound in either extent. */
    const share = extent(1 / 4, 1);
    const some = (text: string, count: number): string => text.repeat(count * share);
    const many = (count: number, text: string): string => `{"logEvents":[${some(`${text},`, count).slice(0, -1)}]}`;
    const bodies: Record<string, () => string> = {
      'millions of events': () => many(5_000_000, '{}'),
      'millions of numbers': () => many(7_000_000, '1'),
      'millions of messages': () => some('{"logEvents":[]}', 1_000_000),
      'millions of lines': () => some('a\n', 8_000_000),
      'messages and lines in turns': () => some('{"logEvents":[]}\na\n', 800_000),
      'open objects': () => some('{"a":', 3_000_000),
      'open objects, one a line': () => some('{"a":\n', 2_500_000),
      'a huge group': () => `{"logGroup":"${some('g', MEGABYTE)}",${many(500_000, '{"message":"a"}').slice(1)}`,
      'a huge line': () => some('a', 15 * MEGABYTE),
    };
    for (const [name, body] of Object.entries(bodies))
      it(`answers ${name} in time`, () => {
        const request = firehose(zipped(body()));
        const headers = { 'x-amz-firehose-common-attributes': '{"commonAttributes":{"a":"b"}}' };
        const maxBytes = 2 * MEGABYTE * share;
        let result: ReturnType<typeof normalize> | undefined;
        expect(cpuCost(() => (result = normalize(cloudwatch, request, { headers, timed: true, maxBytes })))).to.be.below(1500 * share);
        if (result !== undefined && 'total' in result) expect(result.total).to.be.below(300_000 * share);
      }).timeout(240_000);
  });
});

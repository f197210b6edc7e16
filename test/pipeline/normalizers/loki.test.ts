import { expect } from 'chai';
import snappy from 'snappyjs';
import type { FieldValue } from '../../../pipeline/core/entry.ts';
import { loki } from '../../../pipeline/normalizers/loki.ts';
import { entriesOf as entriesOfWriter, newWriter, RECEIVED_AT } from '../logs/entry-lines.ts';
import { messages, normalize, type Result } from './normalize.ts';
import { bytesField, varintField } from './protobuf-writer.ts';

const TIME = '1795217398098123456'; // 2026-11-20T23:29:58.098123456Z
const ISO = '2026-11-20T23:29:58.098123456Z';
const JSON_TYPE = { contentType: 'application/json' };
const PROTOBUF = { contentType: 'application/x-protobuf' };

const REQUEST = {
  path: '/loki/api/v1/push',
  contentType: 'application/json',
  query: new URLSearchParams(),
  header: (): string => '',
  maxBytes: 2 * 1024 * 1024,
  receivedAt: RECEIVED_AT,
};

const shown = (value: FieldValue): unknown => (typeof value === 'string' ? value : { json: value.text });
const resultOf = (result: ReturnType<typeof normalize>): Result => {
  if (!('entries' in result)) throw new Error(result.detail);
  return result;
};
const entriesOf = (result: ReturnType<typeof normalize>): Record<string, unknown>[] =>
  resultOf(result).entries.map((entry) => Object.fromEntries([...entry].map(([name, value]) => [name, shown(value)])));

type Metadata = Readonly<Record<string, string>>;
type Line = readonly [time: string, line: string, metadata?: Metadata];
type Labels = Readonly<Record<string, string>>;

const lokiJson = (stream: Labels, values: readonly Line[]): string => JSON.stringify({ streams: [{ stream, values }] });

function lokiProtobuf(labels: Labels | string, lines: readonly Line[]): Buffer {
  const entries = lines.map(([time, line, metadata = {}]) => {
    const ns = BigInt(time);
    const stamp = bytesField(1, varintField(1, ns / 1_000_000_000n), varintField(2, ns % 1_000_000_000n));
    const pairs = Object.entries(metadata).map(([name, value]) => bytesField(3, bytesField(1, name), bytesField(2, value)));
    return bytesField(2, stamp, bytesField(2, line), ...pairs);
  });
  const text = typeof labels === 'string' ? labels : labelText(labels);
  return bytesField(1, bytesField(1, text), ...entries, varintField(3, 7));
}

const labelText = (labels: Labels): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ')}}`;

describe('normalizer loki', () => {
  /** One line, in both encodings, becomes this entry. */
  const ok = (name: string, labels: Labels, line: Line, expected: Record<string, unknown>): void => {
    it(name, () => {
      const wanted = { _time: ISO, ...expected };
      expect(entriesOf(normalize(loki, lokiJson(labels, [line]), JSON_TYPE)), 'JSON').to.deep.equal([wanted]);
      expect(entriesOf(normalize(loki, lokiProtobuf(labels, [line]), PROTOBUF)), 'protobuf').to.deep.equal([wanted]);
    });
  };
  const web = { app: 'web' };
  const webStream = { _stream: '{app="web"}', app: 'web' };
  ok('takes a line', web, [TIME, 'a "b" \\ \n\t 漢 🚀 \u0000'], { ...webStream, _msg: 'a "b" \\ \n\t 漢 🚀 \u0000' });
  ok('keeps an empty line', web, [TIME, ''], { ...webStream, _msg: '' });
  ok('takes a stream without labels', {}, [TIME, 'a'], { _stream: '{}', _msg: 'a' });
  ok('takes zero for the time of arrival', web, ['0', 'a'], { ...webStream, _msg: 'a', _time: '2026-11-21T14:00:00Z' });
  ok('takes any label', { b: '"q" \\ 漢', 'a.b': 'x', level: 'INFO', service: 's' }, [TIME, 'a'], {
    _stream: '{a.b="x",b="\\"q\\" \\\\ 漢",level="INFO",service="s"}',
    b: '"q" \\ 漢',
    'a.b': 'x',
    level: 'INFO',
    service: 's',
    _msg: 'a',
  });
  ok("ignores labels with an entry's own names", { app: 'web', _time: 'x', _stream: 'y' }, [TIME, 'a'], { ...webStream, _msg: 'a' });
  ok('takes structured metadata, which overrides no label', web, [TIME, 'a', { app: 'other', trace_id: 't1', empty: '' }], {
    ...webStream,
    _msg: 'a',
    trace_id: 't1',
  });
  ok('takes the level of the metadata', web, [TIME, 'a', { detected_level: 'Warn' }], {
    ...webStream,
    _msg: 'a',
    level: 'warn',
    detected_level: 'Warn',
  });
  ok('passes over a level that is unknown', web, [TIME, 'a', { detected_level: 'unknown', severity: 'ERROR' }], {
    ...webStream,
    _msg: 'a',
    level: 'error',
    detected_level: 'unknown',
    severity: 'ERROR',
  });
  ok('prefers the level of the labels', { level: 'info' }, [TIME, '{"level":"debug"}', { level: 'warn', severity: 'error' }], {
    _stream: '{level="info"}',
    level: 'info',
    severity: 'error',
    _msg: '{"level":"debug"}',
  });
  ok('prefers the level of the metadata to that of the line', web, [TIME, '{"level":"debug"}', { severity: 'error' }], {
    ...webStream,
    level: 'error',
    severity: 'error',
    _msg: '{"level":"debug"}',
  });
  const line = '{"level":30,"time":5,"msg":"saved","app":"x","n":{"a":"漢 \\"q\\""},"list":[1, 2],"_msg":"other","t":"meta"}';
  ok('reads a line that is a JSON object, which overrides nothing', web, [TIME, line, { t: 'm' }], {
    ...webStream,
    _msg: line,
    t: 'm',
    level: 'info',
    time: { json: '5' },
    msg: 'saved',
    'n.a': '漢 "q"',
    list: '[1,2]',
  });
  ok('leaves a line that only looks like JSON', web, [TIME, '{"a":1} x'], { ...webStream, _msg: '{"a":1} x' });
  ok('leaves a line that is JSON but no object', web, [TIME, '["a"]'], { ...webStream, _msg: '["a"]' });
  ok(
    'leaves a line of more fields than an entry may have',
    web,
    [TIME, JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${String(i)}`, 1])))],
    {
      ...webStream,
      _msg: JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${String(i)}`, 1]))),
    },
  );
  const large = 'x'.repeat(1e6);
  ok('takes a line of a megabyte', web, [TIME, large], { ...webStream, _msg: large });

  it('keeps the order and the times of many lines', () => {
    const lines = Array.from({ length: 100 }, (_, i): Line => [String(BigInt(TIME) + BigInt(i)), `line ${String(i)}`]);
    for (const result of [normalize(loki, lokiJson(web, lines), JSON_TYPE), normalize(loki, lokiProtobuf(web, lines), PROTOBUF)])
      expect(messages(result)).to.deep.equal(lines.map(([, text]) => text));
  });
  it('keeps streams apart', () => {
    const body = Buffer.concat([
      lokiProtobuf({ a: '1' }, [[TIME, 'x', { m: '1' }]]),
      lokiProtobuf({ b: '2' }, [[String(BigInt(TIME) + 1n), 'y']]),
    ]);
    expect(entriesOf(normalize(loki, body, PROTOBUF))).to.deep.equal([
      { _time: ISO, _stream: '{a="1"}', a: '1', m: '1', _msg: 'x' },
      { _time: ISO.replace('456Z', '457Z'), _stream: '{b="2"}', b: '2', _msg: 'y' },
    ]);
  });
  it('lets the request name the labels', () => {
    const out = newWriter({ streamFields: ['b', 'm'] });
    loki.normalize({ ...REQUEST, body: Buffer.from(lokiJson({ a: '1', b: '2' }, [[TIME, 'x', { m: '3' }]])) }, out);
    expect(entriesOfWriter(out).map((entry) => entry.get('_stream'))).to.deep.equal(['{b="2",m="3"}']);
  });
  it('bounds what large labels of many lines become', () => {
    const lines = Array.from({ length: 100 }, (): Line => [TIME, '']);
    const labels = { big: 'x'.repeat(60_000) };
    for (const result of [
      normalize(loki, lokiJson({ big: 'x'.repeat(1e6) }, lines), JSON_TYPE),
      normalize(loki, Buffer.concat(Array.from({ length: 10 }, () => lokiProtobuf(labels, lines))), PROTOBUF),
    ]) {
      const { entries, rejected, rejectedCount, total, ack } = resultOf(result);
      expect(entries).to.not.be.empty;
      expect(rejected).to.not.be.empty;
      expect(entries.length + rejectedCount).to.equal(total);
      expect(rejected[0]?.reason).to.match(/^the fields shared by entries would take more than/);
      expect(ack.headers).to.deep.equal({ 'X-Rejected-Entries': String(rejectedCount) });
      expect(entries[0]?.get('_stream')).to.equal(`{big="${'x'.repeat(2048)}"}`);
    }
  });

  describe('in JSON', () => {
    const values = (text: string): string => `{"streams":[{"stream":{"app":"web"},"values":[${text}]}]}`;
    const time = (name: string, token: string, expected: string): void => {
      it(name, () => expect(entriesOf(normalize(loki, values(`[${token},"a"]`), JSON_TYPE))[0]?.['_time']).to.equal(expected));
    };
    time('takes a time that is a number', TIME, ISO);
    time('takes a time in scientific notation', '1.795217398098e18', '2026-11-20T23:29:58.098Z');
    time('takes nanoseconds, however few', '"1000000001"', '1970-01-01T00:00:01.000000001Z');
    time('takes an empty time for the time of arrival', '""', '2026-11-21T14:00:00Z');

    const rejected = (name: string, element: string, reason: RegExp): void => {
      it(name, () => {
        const result = normalize(loki, values(`${element},["${TIME}","b"]`), JSON_TYPE);
        expect(messages(result)).to.deep.equal(['b']);
        expect(resultOf(result).rejected.map(({ reason }) => reason)).to.match(reason);
        expect(resultOf(result).ack).to.deep.equal({ status: 204, headers: { 'X-Rejected-Entries': '1' } });
      });
    };
    rejected('rejects a time that is none', '["soon","a"]', /^_time is not a time: "soon" is not a number of nanoseconds$/);
    rejected('rejects a negative time', '["-5","a"]', /^_time is not a time/);
    rejected('rejects a time that is no scalar', '[{},"a"]', /^_time is not a time/);
    rejected('rejects a line that is no text', `["${TIME}",5]`, /^an element of values is not an array of/);
    rejected('rejects an element without a line', `["${TIME}"]`, /^an element of values/);
    rejected('rejects an empty element', '[]', /^an element of values/);
    rejected('rejects an element that is no array', '"a"', /^an element of values/);
    rejected('rejects metadata that is no object', `["${TIME}","a",5]`, /^an element of values/);
    rejected('rejects a fourth element', `["${TIME}","a",{},{}]`, /^an element of values/);
    it('keeps metadata whose values are no text', () => {
      const entry = entriesOf(normalize(loki, values(`["${TIME}","a",{"n":5,"d":{"e":true},"z":null}]`), JSON_TYPE))[0];
      expect(entry)
        .to.deep.include({ n: { json: '5' }, 'd.e': { json: 'true' } })
        .and.not.have.property('z');
    });
    it('makes labels text', () => {
      const body = `{"streams":[{"stream":{"n":5,"yes":true,"no":null},"values":[["${TIME}","a"]]}]}`;
      expect(entriesOf(normalize(loki, body, JSON_TYPE))).to.deep.equal([
        { _time: ISO, _stream: '{n="5",yes="true"}', n: '5', yes: 'true', _msg: 'a' },
      ]);
    });
    it('finds the labels behind the values, and passes over what it does not know', () => {
      const body = ` {"x":{"y":[1]},"streams" : [ {"z":null,"values":[["${TIME}","a"]],"stream":{"a":"b"}} ] , "w":1} `;
      expect(entriesOf(normalize(loki, body, JSON_TYPE))).to.deep.equal([{ _time: ISO, _stream: '{a="b"}', a: 'b', _msg: 'a' }]);
    });
    it('takes lone surrogates for U+FFFD', () => {
      expect(messages(normalize(loki, values(`["${TIME}","a\\ud83d"]`), JSON_TYPE))).to.deep.equal(['a\uFFFD']);
    });
    it('takes a line of JSON with an escaped name', () => {
      const body = values(`["${TIME}","{\\u0022k\\u0022:\\u00221\\u0022}"]`);
      expect(entriesOf(normalize(loki, body, JSON_TYPE))[0]).to.deep.include({ _msg: '{"k":"1"}', k: '1' });
    });
    it('answers 204 to no streams and to no values', () => {
      for (const body of ['{"streams":[]}', values('')]) {
        const { ack, total } = resultOf(normalize(loki, body, JSON_TYPE));
        expect([ack, total], body).to.deep.equal([{ status: 204, headers: {} }, 0]);
      }
    });
    it('answers 204 where every entry was rejected for its time alone', () => {
      const { ack } = resultOf(normalize(loki, values('["18446744073709551615","a"]'), JSON_TYPE));
      expect(ack).to.deep.equal({ status: 204, headers: { 'X-Rejected-Entries': '1' } });
    });

    const bad = (name: string, body: string, detail: RegExp): void => {
      it(name, () => {
        const result = normalize(loki, body, JSON_TYPE);
        expect('status' in result && result.status).to.equal(400);
        expect('status' in result && result.detail).to.match(detail);
      });
    };
    bad('refuses an empty body', '', /^The body is empty/);
    bad('refuses what is no JSON, and says where', '{"streams":[{"stream":{}x', /unexpected "x" at byte 24/);
    bad('refuses a body that breaks off in a line', values(`["${TIME}","a`).slice(0, -4), /unexpected end/);
    bad('refuses a body that breaks off in an element', `{"streams":[{"stream":{},"values":[["1"`, /unexpected end/);
    bad('refuses a body that is no object', '[]', /unexpected "\[\]" at byte 0/);
    bad('refuses text behind the request', '{"streams":[]} x', /^After the request, at byte 15/);
    bad('refuses a body without streams', '{}', /^streams is missing/);
    bad('refuses streams that are no list', '{"streams":null}', /^streams is not an array/);
    bad('refuses a stream that is no object', '{"streams":[{"stream":{},"values":[]},1]}', /^streams\[1\] is not an object/);
    bad('refuses a stream without labels', '{"streams":[{"values":[]}]}', /^streams\[0\] has no stream/);
    bad('refuses a stream without values', '{"streams":[{"stream":{}}]}', /^streams\[0\] has no values/);
    bad('refuses labels that are no object', '{"streams":[{"stream":"{}","values":[]}]}', /^stream of streams\[0\] is not an object/);
    bad('refuses values that are no list', '{"streams":[{"stream":{},"values":{}}]}', /^values of streams\[0\] is not an array/);
    bad('refuses a body of which nothing could be read', values('["x","a"],5'), /^No entry could be read: entry 0: _time is not a time/);
  });

  describe('in protobuf', () => {
    it('takes labels whose quotes are not escaped', () => {
      const text = String.raw`{level="warn",customer="c "quoted" \ back"}`;
      expect(entriesOf(normalize(loki, lokiProtobuf(text, [[TIME, 'a']]), PROTOBUF))[0]).to.include({
        level: 'warn',
        customer: String.raw`c "quoted" \ back`,
      });
    });
    it('finds the labels behind the entries', () => {
      const entry = bytesField(2, bytesField(2, 'a'));
      expect(entriesOf(normalize(loki, bytesField(1, entry, bytesField(1, '{a="b"}')), PROTOBUF))[0]).to.include({
        _stream: '{a="b"}',
        _msg: 'a',
      });
    });
    it('takes what is no UTF-8 for U+FFFD', () => {
      expect(
        messages(normalize(loki, bytesField(1, bytesField(1, '{}'), bytesField(2, bytesField(2, Buffer.from([0x61, 0xff])))), PROTOBUF)),
      ).to.deep.equal(['a\uFFFD']);
    });
    it('rejects the entries of a stream whose labels cannot be read, and keeps the others', () => {
      const body = Buffer.concat([
        lokiProtobuf('nonsense', [
          [TIME, 'a'],
          [TIME, 'b'],
        ]),
        lokiProtobuf({}, [[TIME, 'c']]),
      ]);
      const result = normalize(loki, body, PROTOBUF);
      expect(messages(result)).to.deep.equal(['c']);
      expect(resultOf(result).rejected.map(({ reason }) => reason)).to.deep.equal(
        new Array(2).fill('the labels of its stream are not a label set of at most 65536 characters'),
      );
    });
    it('refuses a request without one readable entry', () => {
      const result = normalize(loki, lokiProtobuf('nonsense', [[TIME, 'a']]), PROTOBUF);
      expect('status' in result && result.detail).to.match(/^No entry could be read: entry 0: the labels of its stream/);
    });
    it('rejects a time before 1970', () => {
      const entry = (seconds: bigint): Buffer => bytesField(2, bytesField(1, varintField(1, seconds)), bytesField(2, 'a'));
      const { rejected } = resultOf(normalize(loki, bytesField(1, bytesField(1, '{}'), entry(-5n), entry(5n)), PROTOBUF));
      expect(rejected.map(({ index, reason }) => [index, reason.slice(0, 18)])).to.deep.equal([[0, '_time is not a tim']]);
    });
    it('prescribes snappy', () => {
      expect(loki.impliedCoding?.('application/x-protobuf')).to.equal('snappy');
      expect(loki.impliedCoding?.('application/json')).to.equal(null);
      expect(loki.impliedCoding?.('')).to.equal(null);
    });
    it('finds out the encoding where no media type was sent', () => {
      const body = lokiProtobuf(web, [[TIME, 'a']]);
      expect(messages(normalize(loki, Buffer.from(snappy.compress(body))))).to.deep.equal(['a']);
      expect(messages(normalize(loki, body))).to.deep.equal(['a']);
      expect(messages(normalize(loki, lokiJson(web, [[TIME, 'a']])))).to.deep.equal(['a']);
      expect(messages(normalize(loki, lokiJson(web, [[TIME, 'a']]), { contentType: 'application/x-www-form-urlencoded' }))).to.deep.equal([
        'a',
      ]);
    });
    it('refuses more than the cap where it decompresses by itself', () => {
      const bomb = Buffer.from(snappy.compress(Buffer.alloc(3 * 1024 * 1024)));
      expect(normalize(loki, bomb)).to.include({ status: 413 });
    });
    it('refuses corrupt bytes, and says where', () => {
      const body = lokiProtobuf(web, [[TIME, 'a']]);
      expect(normalize(loki, body.subarray(0, -1), PROTOBUF))
        .to.include({ status: 400 })
        .and.have.property('detail')
        .that.matches(/corrupt at byte \d+/);
      expect(normalize(loki, '', PROTOBUF)).to.include({ status: 400, detail: 'The body is empty.' });
    });
  });
});

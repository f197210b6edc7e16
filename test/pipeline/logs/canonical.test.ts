import { expect } from 'chai';
import { canonical } from './entry-lines.ts';

const AT = '2026-11-21T13:00:00Z';
const n = (json: string): { json: string } => ({ json });
/** An entry with the fields every test entry has. */
const entry = (fields: Record<string, unknown> = {}, stream = '{}'): Record<string, unknown> => ({
  _time: AT,
  _stream: stream,
  _msg: 'm',
  ...fields,
});
const ok = (name: string, json: string, expected: Record<string, unknown>): void => {
  it(name, () => expect(canonical(json)).to.deep.equal(expected));
};
const withFields = (fields: string): string => `{"_time":"${AT}","_msg":"m",${fields}}`;

describe('canonical entry: values', () => {
  ok(
    'keeps strings, numbers and booleans by their type',
    withFields('"a":"1.50","b":1.50,"c":true,"d":false'),
    entry({ a: '1.50', b: n('1.50'), c: n('true'), d: n('false') }),
  );
  ok(
    'keeps every digit',
    withFields('"a":18446744073709551615,"b":-0,"c":1e400,"d":12345678901234567890.123'),
    entry({ a: n('18446744073709551615'), b: n('-0'), c: n('1e400'), d: n('12345678901234567890.123') }),
  );
  ok('drops null and empty', withFields('"a":null,"b":"","c":{}'), entry());
  ok('flattens objects', withFields('"user":{"id":7,"name":{"first":"A"}}'), entry({ 'user.id': n('7'), 'user.name.first': 'A' }));
  ok(
    'keeps arrays as compact JSON text',
    withFields('"a":[ 1, "x y", {"b" : null} ],"e":[]'),
    entry({ a: '[1,"x y",{"b":null}]', e: '[]' }),
  );
  ok('takes the last of equal names', withFields('"a":1,"a":"two","b":1,"b":null'), entry({ a: 'two' }));
  ok('takes the last of a dotted and a nested name', withFields('"a.b":1,"a":{"b":2}'), entry({ 'a.b': n('2') }));
  ok(
    'keeps __proto__ and its like as plain names',
    withFields('"__proto__":{"admin":true},"constructor":"c","toString":"t"'),
    entry({ '__proto__.admin': n('true'), constructor: 'c', toString: 't' }),
  );
  ok('knows names by their meaning, not their spelling', withFields('"\\u0061":1,"a":2'), entry({ a: n('2') }));
  ok(
    'keeps NUL, escapes and unicode',
    withFields('"a":"x\\u0000y\\n\\"\\\\\\/","b":"héllo 東京 \\ud83d\\ude00"'),
    entry({ a: 'x\0y\n"\\/', b: 'héllo 東京 😀' }),
  );
  ok('makes lone surrogates U+FFFD', withFields('"a":"x\\ud83dy"'), entry({ a: 'x\ufffdy' }));
  ok("ignores a producer's own _stream", withFields('"_stream":"{x=1}","_stream_id":"7"'), entry());
  it('leaves prototypes alone', () => expect(({} as { admin?: unknown }).admin).to.equal(undefined));
});

describe('canonical entry: time', () => {
  const time = (json: string, expected: string): void =>
    ok(`reads ${json}`, `{"_time":${json},"_msg":"m"}`, { _time: expected, _stream: '{}', _msg: 'm' });
  time('"2026-11-20T10:00:00Z"', '2026-11-20T10:00:00Z');
  time('"2026-11-20T10:00:00.1Z"', '2026-11-20T10:00:00.100Z');
  time('"2026-11-20T10:00:00.123456789Z"', '2026-11-20T10:00:00.123456789Z');
  time('"2026-11-20T10:00:00.123456789+02:00"', '2026-11-20T08:00:00.123456789Z');
  time('"2026-11-20 10:00:00.5"', '2026-11-20T10:00:00.500Z');
  time('"2024-02-29T00:00:00Z"', '2024-02-29T00:00:00Z');
  time('"1900-01-01T00:00:00Z"', '1900-01-01T00:00:00Z');
  time('"1969-12-31T23:59:59.999999999Z"', '1969-12-31T23:59:59.999999999Z');
  time('1795182899', '2026-11-20T13:54:59Z');
  time('1795182899.5', '2026-11-20T13:54:59.500Z');
  time('1795182899123', '2026-11-20T13:54:59.123Z');
  time('"1795182899123456"', '2026-11-20T13:54:59.123456Z');
  time('1795182899123456789', '2026-11-20T13:54:59.123456789Z');
  time('1.795216940874E9', '2026-11-20T23:22:20.874Z');
  for (const none of ['""', '0', 'null', '"0"', '"0001-01-01T00:00:00Z"']) time(none, '2026-11-21T14:00:00Z');
  ok('takes the first readable of the other names, and moves it', '{"_msg":"m","time":"soon","date":1795182899,"ts":5}', {
    _time: '2026-11-20T13:54:59Z',
    _stream: '{}',
    _msg: 'm',
    time: 'soon',
    ts: n('5'),
  });
  ok('prefers @timestamp', '{"_msg":"m","timestamp":1,"@timestamp":"2026-11-20T10:00:00Z"}', {
    _time: '2026-11-20T10:00:00Z',
    _stream: '{}',
    _msg: 'm',
    timestamp: n('1'),
  });
  for (const bad of ['"soon"', '"2026-02-30T00:00:00Z"', '"2026-11-20T25:00:00Z"', 'true', '[1]']) {
    it(`rejects ${bad}`, () => expect(canonical(`{"_time":${bad},"_msg":"m"}`)).to.match(/^_time is not a time: /));
  }
  it('rejects what is outside 1900 to 2262', () => {
    expect(canonical('{"_time":"1899-12-31T23:59:59Z","_msg":"m"}')).to.equal('_time is before the year 1900');
    expect(canonical('{"_time":"2262-01-01T00:00:00Z","_msg":"m"}')).to.equal('_time is after the year 2261');
  });
  it('rejects what is older than the retention, or more than two days ahead', () => {
    expect(canonical('{"_time":"2026-11-07T13:59:59Z","_msg":"m"}', { retentionDays: 14 })).to.equal(
      '_time is older than the retention of 14 days',
    );
    expect(canonical('{"_time":"2026-11-07T14:00:00Z","_msg":"m"}', { retentionDays: 14 })).to.be.an('object');
    expect(canonical('{"_time":"2026-11-23T14:00:01Z","_msg":"m"}', { retentionDays: 14 })).to.equal('_time is more than 2 days ahead');
  });
});

describe('canonical entry: message, level, service, stream', () => {
  for (const name of ['message', 'msg', 'log', 'body', 'MESSAGE', 'short_message', 'event.original']) {
    ok(`takes ${name} as the message`, `{"_time":"${AT}","${name}":"hello"}`, { ...entry(), _msg: 'hello' });
  }
  ok('takes the first of them and leaves the others', `{"_time":"${AT}","log":"l","msg":"m"}`, entry({ log: 'l' }));
  ok('makes a message that is no string its JSON text', `{"_time":"${AT}","_msg":{"a": [1]}}`, { ...entry(), _msg: '{"a":[1]}' });
  ok('makes a message that is a number text', `{"_time":"${AT}","_msg":5}`, { ...entry(), _msg: '5' });
  ok('makes the JSON text of an entry its message where it has none', `{"_time":"${AT}", "a": 1}`, {
    ...entry({ a: n('1') }),
    _msg: `{"_time":"${AT}","a":1}`,
  });
  it('rejects an entry with an empty message', () => expect(canonical(`{"_time":"${AT}","_msg":""}`)).to.match(/^no message/));

  ok('keeps the level as sent', withFields('"level":"WARNING","severity":"low"'), entry({ level: 'WARNING', severity: 'low' }));
  ok('reads the level from severity, in lower case', withFields('"severity":"ERROR"'), entry({ level: 'error', severity: 'ERROR' }));
  ok('reads the level from a nested log.level', withFields('"log":{"level":"Info"}'), entry({ level: 'info', 'log.level': 'Info' }));
  ok("reads journald's PRIORITY", withFields('"PRIORITY":"3"'), entry({ level: 'error', PRIORITY: '3' }));
  ok("reads pino's numbers", withFields('"level":50'), entry({ level: 'error' }));
  ok('makes other numbers text', withFields('"level":5,"service":7'), entry({ level: '5', service: '7' }, '{service="7"}'));
  ok('never takes status for a level', withFields('"status":"error"'), entry({ status: 'error' }));
  ok('never takes app for the service', withFields('"app":"web"'), entry({ app: 'web' }, '{app="web"}'));

  ok(
    'makes the stream of its labels, sorted',
    withFields('"host":"h1","env":"p\\"q","app":"web","x":"y"'),
    entry({ host: 'h1', env: 'p"q', app: 'web', x: 'y' }, '{app="web",env="p\\"q",host="h1"}'),
  );
  ok(
    'takes flattened names as labels',
    withFields('"kubernetes":{"pod":"p"},"pod":"q"'),
    entry({ 'kubernetes.pod': 'p', pod: 'q' }, '{pod="q"}'),
  );
  it('takes the labels that the request names', () =>
    expect(
      canonical(withFields('"host":"h","region":"eu","user":{"id":5}'), { streamFields: ['user.id', 'region', 'none'] }),
    ).to.deep.equal(entry({ host: 'h', region: 'eu', 'user.id': n('5') }, '{region="eu",user.id="5"}')));
  ok('keeps a numeric trace id as a number', withFields('"trace_id":123,"span_id":"s"'), entry({ trace_id: n('123'), span_id: 's' }));
});

describe('canonical entry: limits', () => {
  const fields = (count: number): string => Array.from({ length: count }, (_, i) => `"f${i}":1`).join(',');
  it('takes 1,000 fields and no more', () => {
    expect(canonical(`{"_time":"${AT}","_msg":"m",${fields(998)}}`)).to.be.an('object');
    expect(canonical(`{"_time":"${AT}","_msg":"m",${fields(999)}}`)).to.equal('more than 1000 fields');
  });
  it('takes names of 256 bytes and no more', () => {
    expect(canonical(withFields(`"${'n'.repeat(256)}":1`))).to.be.an('object');
    expect(canonical(withFields(`"${'n'.repeat(257)}":1`))).to.match(/^a field name of more than 256 bytes/);
    expect(canonical(withFields(`"${'a'.repeat(200)}":{"${'b'.repeat(56)}":1}`))).to.match(/^a field name of more than 256 bytes/);
  });
  it('takes levels and services of 16 KiB and no more; what is longer elsewhere names no level', () => {
    const long = 'l'.repeat(16_385);
    for (const name of ['level', 'service']) {
      expect(canonical(withFields(`"${name}":"${long.slice(1)}"`))).to.be.an('object');
      expect(canonical(withFields(`"${name}":"${long}"`))).to.equal(`a ${name} of more than 16384 bytes`);
    }
    expect(canonical(withFields(`"severity":"${long}"`))).to.deep.equal(entry({ severity: long }));
  });
  it('takes a depth of 64 and no more', () => {
    const nested = (depth: number): string => '{"a":'.repeat(depth - 1) + '1' + '}'.repeat(depth - 1);
    expect(canonical(withFields(`"o":${nested(64)}`))).to.be.an('object');
    expect(canonical(withFields(`"o":${nested(65)}`))).to.match(/nested deeper than 64/);
    expect(canonical(withFields(`"o":${'['.repeat(63)}${']'.repeat(63)}`))).to.be.an('object');
    expect(canonical(withFields(`"o":${'['.repeat(1e5)}${']'.repeat(1e5)}`))).to.match(/nested deeper than 64/);
    expect(canonical(withFields(`"o":${'['.repeat(1e5)}`))).to.equal('invalid');
  });
});

import { expect } from 'chai';
import { cpuCost } from '../../fakes/cpu-cost.ts';
import { gzipSync, deflateSync } from 'node:zlib';
import type { FieldValue } from '../../../pipeline/core/entry.ts';
import { gelf } from '../../../pipeline/normalizers/gelf.ts';
import { messages, normalize, type Result } from './normalize.ts';

const shown = (value: FieldValue): unknown => (typeof value === 'string' ? value : { json: value.text });
const resultOf = (result: ReturnType<typeof normalize>): Result => {
  if (!('entries' in result)) throw new Error(result.detail);
  return result;
};
const entriesOf = (result: ReturnType<typeof normalize>): Record<string, unknown>[] =>
  resultOf(result).entries.map((entry) => Object.fromEntries([...entry].map(([name, value]) => [name, shown(value)])));

describe('normalizer gelf', () => {
  const ok = (name: string, message: string, expected: Record<string, unknown>): void => {
    it(name, () => {
      const wanted = { _time: '2026-11-21T14:00:00Z', _stream: '{}', ...expected };
      expect(entriesOf(normalize(gelf, message))).to.deep.equal([wanted]);
    });
  };
  ok(
    'takes a message',
    '{"version":"1.1","host":"h1","short_message":"a","full_message":"a\\nb","timestamp":1385053862.3072,"level":1,"_user_id":9001,"_x":"y","facility":"f"}',
    {
      _time: '2013-11-21T17:11:02.307200Z',
      _stream: '{facility="f",host="h1"}',
      host: 'h1',
      _msg: 'a',
      full_message: 'a\nb',
      level: 'alert',
      user_id: { json: '9001' },
      x: 'y',
      facility: 'f',
    },
  );
  ok('takes a time in scientific notation', '{"short_message":"a","timestamp":1.795216940874E9}', {
    _msg: 'a',
    _time: '2026-11-20T23:22:20.874Z',
  });
  ok('takes a time that is text', '{"short_message":"a","timestamp":"1795216940.5"}', { _msg: 'a', _time: '2026-11-20T23:22:20.500Z' });
  ok('takes a time of zero for that of arrival', '{"short_message":"a","timestamp":0}', { _msg: 'a', timestamp: { json: '0' } });
  ok('keeps a time that is none as a field', '{"short_message":"a","timestamp":"soon"}', { _msg: 'a', timestamp: 'soon' });
  ok('keeps an additional timestamp beside its own', '{"_timestamp":5,"short_message":"a","timestamp":1795216940}', {
    _msg: 'a',
    _time: '2026-11-20T23:22:20Z',
    _timestamp: { json: '5' },
  });
  for (const [level, word] of ['emerg', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'].entries())
    ok(`reads level ${String(level)}`, `{"short_message":"a","level":${String(level)}}`, { _msg: 'a', level: word });
  ok('reads a level that is a number as text', '{"short_message":"a","level":"6"}', { _msg: 'a', level: 'info' });
  ok('reads a level with a fraction', '{"short_message":"a","level":3.0}', { _msg: 'a', level: 'error' });
  ok('keeps a level that is a word', '{"short_message":"a","level":"Error"}', { _msg: 'a', level: 'Error' });
  ok('keeps a level that is no syslog severity', '{"short_message":"a","level":8}', { _msg: 'a', level: '8' });
  ok(
    'keeps additional fields apart from those of the message',
    '{"_host":"h2","host":"h1","short_message":"a","_level":"x","level":6,"_message":"m","_short_message":"s","_full_message":"f","_msg":"g"}',
    {
      _stream: '{host="h1"}',
      host: 'h1',
      _host: 'h2',
      _msg: 'a',
      level: 'info',
      _level: 'x',
      _message: 'm',
      _short_message: 's',
      _full_message: 'f',
      msg: 'g',
    },
  );
  ok('takes an additional field for one that the message lacks', '{"short_message":"a","_host":"h2","_level":"warn","_version":"v2"}', {
    _stream: '{host="h2"}',
    host: 'h2',
    level: 'warn',
    version: 'v2',
    _msg: 'a',
  });
  ok('drops the version and the id', '{"version":"1.1","_version":"v2","_id":"7","id":8,"short_message":"a"}', {
    version: 'v2',
    id: { json: '8' },
    _msg: 'a',
  });
  ok('strips one underscore', '{"short_message":"a","__x":1,"___y":2,"_":3,"__time":4,"__msg":5}', {
    _msg: 'a',
    _x: { json: '1' },
    __y: { json: '2' },
    _: { json: '3' },
    __time: { json: '4' },
    __msg: { json: '5' },
  });
  ok('flattens objects, keeps lists, drops null', '{"short_message":"a","_d":{"a":{"b":1}},"_l":[1, 2],"_n":null,"_e":""}', {
    _msg: 'a',
    'd.a.b': { json: '1' },
    l: '[1,2]',
  });
  ok('keeps special names', '{"short_message":"a","___proto__":"p","_constructor":"c"}', {
    _msg: 'a',
    ['__proto__']: 'p',
    constructor: 'c',
  });
  ok('takes the full message for one that is missing', '{"full_message":"f","_a":1}', { _msg: 'f', full_message: 'f', a: { json: '1' } });
  ok('takes the full message for one that is empty', '{"short_message":"","full_message":"f"}', { _msg: 'f', full_message: 'f' });
  ok('takes a message of another name', '{"message":"m","_a":1}', { _msg: 'm', a: { json: '1' } });
  ok('gives the JSON text of what has no message', '{"_a":1,"_b":"x"}', { _msg: '{"a":1,"b":"x"}', a: { json: '1' }, b: 'x' });
  ok('gives the text of a message that is a number', '{"short_message":5}', { _msg: '5' });
  ok('takes the last of equal names', '{"short_message":"a","short_message":"b","_x":1,"_x":2}', { _msg: 'b', x: { json: '2' } });
  ok('takes numbers with every digit', '{"short_message":"a","_n":18446744073709551615}', {
    _msg: 'a',
    n: { json: '18446744073709551615' },
  });

  it('takes an entry of 1000 additional fields', () => {
    const fields = Array.from({ length: 999 }, (_, i) => `"_f${String(i)}":1`).join(',');
    const [entry] = entriesOf(normalize(gelf, `{"short_message":"a",${fields}}`));
    expect(Object.keys(entry ?? {})).to.have.length(999 + 3);
  });

  const several = (name: string, body: string, expected: string[]): void => {
    it(name, () => expect(messages(normalize(gelf, body))).to.deep.equal(expected));
  };
  const [a, b] = ['{"short_message":"a"}', '{"short_message":"b"}'];
  several('takes messages on lines of their own', `${a}\n${b}\r\n\n`, ['a', 'b']);
  several('takes messages that NUL bytes end', `${a}\0${b}\0\0`, ['a', 'b']);
  several('takes messages one after the other', `${a}${b} ${a}`, ['a', 'b', 'a']);
  several('takes a message over several lines, behind a byte order mark', '\uFEFF{\n"short_message":\n"a"\n}\n', ['a']);
  several('takes a list of messages', `[${a},${b}]`, ['a', 'b']);

  it('rejects what is no message, and keeps the others', () => {
    const result = normalize(gelf, `{"short_message":"a"\n${b}\ntext\n5\n{"short_message":"c","timestamp":99999999999}\n${a}`);
    expect(messages(result)).to.deep.equal(['b', 'a']);
    expect(resultOf(result).rejected.map(({ index }) => index)).to.deep.equal([0, 2, 3, 4]);
    expect(resultOf(result).ack).to.deep.equal({ status: 202, headers: { 'X-Rejected-Entries': '4' } });
  });
  it('answers 202 without a body', () => {
    expect(resultOf(normalize(gelf, a)).ack).to.deep.equal({ status: 202, headers: {} });
  });
  it('takes the key from the query', () => expect(gelf.keyInQuery).to.equal(true));

  const bad = (name: string, body: string | Buffer, detail: RegExp): void => {
    it(name, () => {
      const result = normalize(gelf, body);
      expect('status' in result && result.status).to.equal(400);
      expect('status' in result && result.detail).to.match(detail);
    });
  };
  bad('refuses an empty body', ' \n\0', /^The body is empty/);
  bad('refuses a body without a message', 'text', /^Nothing of the body could be read/);
  for (const level of [0, 1, 6, 9])
    bad(`names zlib of level ${String(level)}`, deflateSync(a, { level }), /^The body is a zlib stream \(deflate\)/);
  bad('names gzip without its header', gzipSync(a), /^The body is a gzip stream, but the request has no Content-Encoding/);
  it('takes no more than linear time', () => {
    for (const unit of ['{"a":\n', '{\n', '{"a":"\n', '[\n', 'x\n', '\0', '{}\n'])
      expect(cpuCost(() => normalize(gelf, unit.repeat(500_000 / unit.length), { timed: true }))).to.be.below(400);
  });
});

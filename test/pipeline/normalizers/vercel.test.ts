import { expect } from 'chai';
import { textOf } from '../../../pipeline/core/entry.ts';
import { vercel, verifyHeader } from '../../../pipeline/normalizers/vercel.ts';
import { messages, normalize } from './normalize.ts';

/** The one entry of a record. */
function entryOf(record: object): Record<string, string> {
  const result = normalize(vercel, JSON.stringify([record]));
  if (!('entries' in result)) throw new Error(`${String(result.status)} ${result.detail}`);
  return Object.fromEntries([...(result.entries[0] ?? [])].map(([name, value]) => [name, textOf(value)]));
}

describe('normalizer vercel', () => {
  const ok = (name: string, record: object, expected: string): void => {
    it(name, () => expect(entryOf(record)['_msg']).to.equal(expected));
  };
  const proxy = { method: 'GET', path: '/a?b=1', statusCode: 304, timestamp: 1_795_217_391_648 };
  ok('keeps the message', { message: 'm', proxy, path: '/x', statusCode: 1 }, 'm');
  ok('makes one of the request', { proxy, path: '/x', statusCode: 1 }, 'GET /a?b=1 304');
  ok('makes one where the message is empty', { message: '', proxy }, 'GET /a?b=1 304');
  ok('makes one of what there is', { proxy: { method: 'POST' }, path: '/x', statusCode: 500 }, 'POST /x 500');
  ok('makes one without a method', { path: '/x' }, '/x');
  ok('shows the fields where there is nothing else', { source: 'edge' }, '{"source":"edge"}');

  it('takes NDJSON', () => expect(messages(normalize(vercel, '{"message":"a"}\n{"message":"b"}\n'))).to.deep.equal(['a', 'b']));
  it('takes one record', () => expect(messages(normalize(vercel, '{"message":"a"}'))).to.deep.equal(['a']));
  it('rejects what is no record alone', () => {
    const result = normalize(vercel, '[{"message":"a"},5,{"message":"b"}]');
    expect(messages(result)).to.deep.equal(['a', 'b']);
    expect('ack' in result && result.ack).to.deep.equal({
      status: 200,
      headers: { 'X-Rejected-Entries': '1' },
      body: { status: 'ok', accepted: 2 },
    });
  });

  const ids: [string, object, string | undefined, string | undefined][] = [
    ['traceId and spanId', { traceId: 'aa', spanId: 'bb' }, 'aa', 'bb'],
    ['trace.id and span.id', { 'trace.id': 'aa', 'span.id': 'bb' }, 'aa', 'bb'],
    ['both', { traceId: 'aa', 'trace.id': 'aa', spanId: 'bb', 'span.id': 'bb' }, 'aa', 'bb'],
    ['nested ids', { trace: { id: 'aa' }, span: { id: 'bb' } }, 'aa', 'bb'],
    ['no ids', { traceId: '', spanId: null }, undefined, undefined],
  ];
  for (const [name, record, trace, span] of ids)
    it(`reads ${name}`, () => {
      const { trace_id, span_id, ...rest } = entryOf({ message: 'm', ...record });
      expect([trace_id, span_id]).to.deep.equal([trace, span]);
      expect(Object.keys(rest)).to.have.members(['_time', '_stream', '_msg']);
    });

  it('takes time, level and labels from the record', () => {
    const record = { message: 'm', timestamp: 1_795_217_391_648, level: 'error', source: 'lambda', host: 'h', environment: 'production' };
    expect(entryOf(record)).to.include({
      _time: '2026-11-20T23:29:51.648Z',
      level: 'error',
      _stream: '{environment="production",host="h",source="lambda"}',
    });
  });

  it('answers with the value that proves whose endpoint this is', () => {
    const result = normalize(vercel, '[]', { query: 'verify=abc' });
    expect('ack' in result && result.ack.headers).to.deep.equal({ 'x-vercel-verify': 'abc' });
  });
  for (const value of ['', 'a b', 'a\r\nX: y', 'é', 'x'.repeat(300)])
    it(`sends no header for ${JSON.stringify(value.slice(0, 20))}`, () =>
      expect(verifyHeader(new URLSearchParams({ verify: value }))).to.deep.equal({}));
  it('refuses a body of which nothing is readable', () => {
    for (const body of ['', 'hello', '[1]', '{"message":']) expect(normalize(vercel, body), body).to.have.property('status', 400);
  });
});

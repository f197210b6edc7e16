import { expect } from 'chai';
import { drain } from '../../../pipeline/normalizers/drain.ts';
import { messages, normalize } from './normalize.ts';

const LOGPLEX = '<190>1 2026-11-20T23:29:54.747000+00:00 host app web.1 - a';

describe('normalizer drain', () => {
  const ok = (name: string, contentType: string, body: string, expected: string[]): void => {
    it(`${name} (${contentType === '' ? 'no type' : contentType})`, () =>
      expect(messages(normalize(drain, body, { contentType }))).to.deep.equal(expected));
  };
  ok('takes an array', 'application/json', '[{"message":"a"},{"message":"b"}]', ['a', 'b']);
  ok('takes lines of objects', 'application/x-ndjson', '{"message":"a"}\n{"message":"b"}\n', ['a', 'b']);
  ok('takes objects', 'application/vnd.x+json', '\ufeff {"message":"a"}', ['a']);
  ok('takes text that is said to be JSON', 'application/json', 'a\nb', ['a', 'b']);
  ok('takes JSON', '', '[{"message":"a"}]', ['a']);
  ok('takes JSON', 'application/octet-stream', '{"message":"a"}', ['a']);
  ok('takes text', '', '[a] b\n{c\n', ['[a] b', '{c']);
  ok('takes text that is JSON for text', 'text/plain', '{"message":"a"}\n[1]', ['{"message":"a"}', '[1]']);
  ok('takes text', 'application/x-www-form-urlencoded', 'a=b\r\n\r\n  c\n', ['a=b', '  c']);
  ok('takes frames', 'application/logplex-1', `${LOGPLEX}\n`, ['a']);
  ok('takes an empty array', 'application/json', '[]', []);

  const refused = (name: string, contentType: string, body: string, detail: RegExp): void => {
    it(`refuses ${name}`, () => {
      const result = normalize(drain, body, { contentType });
      expect(result).to.have.property('status', 400);
      expect('detail' in result && result.detail).to.match(detail);
    });
  };
  refused('an empty body', '', '', /^The body is empty; send JSON, Logplex frames, or lines of text\.$/);
  refused('empty lines', 'text/plain', '\r\n\n', /^The body is empty/);
  refused('an empty JSON body', 'application/json', ' \n', /^The body is empty; send a JSON array/);
  refused('broken JSON', 'application/json', '[{"message":"a"},', /^Element 1 of the array/);
  refused('JSON without one entry', 'application/json', '[{"app":1}]', /^No entry could be taken/);

  it('answers how many it took, and in a header how many not', () => {
    const result = normalize(drain, '[{"message":"a"},{"level":"b"}]', { contentType: 'application/json' });
    expect('ack' in result && result.ack).to.deep.equal({
      status: 200,
      headers: { 'X-Rejected-Entries': '1' },
      body: { status: 'ok', accepted: 1 },
    });
  });
});

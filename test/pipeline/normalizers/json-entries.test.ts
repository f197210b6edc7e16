import { expect } from 'chai';
import { jsonEntries } from '../../../pipeline/normalizers/json-entries.ts';
import { messages, normalize } from './normalize.ts';

describe('normalizer json', () => {
  const ok = (name: string, body: string, expected: string[]): void => {
    it(name, () => expect(messages(normalize(jsonEntries, body))).to.deep.equal(expected));
  };
  ok('takes an array', '[{"_msg":"a"}, {"_msg":"b"} ]', ['a', 'b']);
  ok('takes an array over several lines', '\n[\n{"_msg":\n"a"},\n{"_msg":"b"}\n]\n', ['a', 'b']);
  ok('takes NDJSON', '{"_msg":"a"}\n\n{"_msg":"b"}\r\n', ['a', 'b']);
  ok('takes a single object', '{"_msg":"a"}', ['a']);
  ok('takes objects one after the other', '{"_msg":"a"}{"_msg":"b"} {"_msg":"c"}', ['a', 'b', 'c']);
  ok('takes objects over several lines', '{\n  "_msg": "a",\n  "x": {\n}\n}\n{"_msg":"b"} {\r\n"_msg":"c"}\n{"_msg":"d"}', [
    'a',
    'b',
    'c',
    'd',
  ]);
  ok('takes an empty array', '[]', []);

  it('names the path for MessagePack', () => {
    for (const hex of ['9681a2647401', '81a36d736701', 'dc00010102', 'de000181']) {
      const result = normalize(jsonEntries, Buffer.from(hex, 'hex'));
      expect(result).to.deep.include({
        status: 400,
        detail: 'The body is not JSON but looks like MessagePack, which /api/v1/fluent takes.',
      });
    }
  });
  it('rejects by itself what is JSON but no entry', () => {
    const result = normalize(jsonEntries, '[{"_msg":"a"},"text",5,{"level":"x"},{"_msg":"b"}]');
    expect(messages(result)).to.deep.equal(['a', 'b']);
    if (!('ack' in result)) throw new Error('expected an answer');
    expect(result.ack).to.deep.include({ status: 200 });
    const body = result.ack.body as { status: string; accepted: number; rejected: number; errors: { index: number; reason: string }[] };
    expect(body).to.include({ status: 'ok', accepted: 2, rejected: 3 });
    expect(body.errors.map(({ index }) => index)).to.deep.equal([1, 2, 3]);
  });
  it('answers with status and count', () => {
    const result = normalize(jsonEntries, '[{"_msg":"a"}]');
    expect('ack' in result && result.ack).to.deep.equal({ status: 200, body: { status: 'ok', accepted: 1 } });
  });
  it('answers 200 where entries were rejected for their time alone', () => {
    const result = normalize(
      jsonEntries,
      '[{"_msg":"a","_time":"2999-01-01T00:00:00Z"},{"_msg":"b","_time":"1800-01-01T00:00:00Z"},{"app":"x"}]',
    );
    if (!('ack' in result)) throw new Error('expected an answer');
    expect(result.ack).to.deep.include({ status: 200 });
    expect(result.ack.body).to.include({ status: 'ok', accepted: 0, rejected: 3 });
  });
  it('lists the first 100 rejections', () => {
    const result = normalize(jsonEntries, `[{"_msg":"a"}${',1'.repeat(150)}]`);
    expect('ack' in result && result.ack.body)
      .to.include({ rejected: 150 })
      .and.have.property('errors')
      .with.length(100);
  });

  const bad = (name: string, body: string, detail: RegExp): void => {
    it(name, () => {
      const result = normalize(jsonEntries, body);
      expect('status' in result && result.status).to.equal(400);
      expect('status' in result && result.detail).to.match(detail);
    });
  };
  bad('refuses an empty body', ' \n ', /empty/);
  bad(
    'names the line that is no JSON',
    '{"_msg":"a"}\n{"_msg":"b"\n{"_msg":"c"}',
    /^Line 2 is not a JSON object: unexpected end at byte 11/,
  );
  bad('counts the lines of an object over several', '{\n"_msg":"a"\n}\n{"_msg":tru}', /^Line 4 is not a JSON object: unexpected "tru}/);
  bad('names the element that is no JSON', '[{"_msg":"a"},{"_msg":tru}]', /^Element 1 of the array is not a JSON object: unexpected "tru}/);
  bad('refuses an array that does not end', '[{"_msg":"a"}', /After element 0/);
  bad('refuses text after the array', '[{"_msg":"a"}] x', /After the array/);
  bad('refuses a comma at the end', '[{"_msg":"a"},]', /^Element 1/);
  bad('refuses a body without a single entry', '["a",1]', /^No entry could be taken: entry 0: not a JSON object/);
  bad('refuses deep nesting without an end', '['.repeat(1e6), /^Element 0/);
});

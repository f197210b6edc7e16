import { expect } from 'chai';
import { esBulk } from '../../../pipeline/normalizers/es-bulk.ts';
import { messages, normalize } from './normalize.ts';

const lines = (...parts: string[]): string => parts.join('\n') + '\n';
const CREATE = '{"create":{}}';

describe('normalizer es_bulk', () => {
  const ok = (name: string, body: string, expected: string[]): void => {
    it(name, () => expect(messages(normalize(esBulk, body))).to.deep.equal(expected));
  };
  ok('takes pairs', lines(CREATE, '{"_msg":"a"}', CREATE, '{"_msg":"b"}'), ['a', 'b']);
  ok(
    'takes other actions and their keys',
    lines('{ "index" : {"_index":"x","_id":"1"} }', '{"_msg":"a"}', '{"create":{"pipeline":null}}', '{"message":"b"}'),
    ['a', 'b'],
  );
  ok('takes a body without a final line feed', `${CREATE}\n{"_msg":"a"}`, ['a']);
  ok('takes CRLF, blank lines and a byte order mark', `\ufeff${CREATE}\r\n{"_msg":"a"}\r\n\r\n\n${CREATE}\r\n{"_msg":"b"}\r\n`, ['a', 'b']);
  it('replaces what is no UTF-8', () => {
    const body = Buffer.concat([Buffer.from(`${CREATE}\n{"_msg":"a`), Buffer.from([0xff]), Buffer.from('"}\n')]);
    expect(messages(normalize(esBulk, body))).to.deep.equal(['a\ufffd']);
  });

  it('rejects bad documents one by one, in order, and keeps the others', () => {
    const body = lines(
      CREATE,
      '{"_msg":"a"}',
      CREATE,
      '{"_msg":',
      CREATE,
      '{"_msg":"b"} x',
      CREATE,
      '[1]',
      '{"delete":{"_id":"1"}}',
      '{"update":{}}',
      '{"doc":{}}',
      CREATE,
      '{"host":1}',
      CREATE,
      '{"_msg":"c"}',
    );
    const result = normalize(esBulk, body);
    expect(messages(result)).to.deep.equal(['a', 'c']);
    if (!('ack' in result)) throw new Error('expected an answer');
    const answer = JSON.parse(result.ack.body as string) as {
      took: number;
      errors: boolean;
      items: Record<string, { status: number; error?: { type: string; reason: string } }>[];
    };
    expect(answer.took).to.equal(3);
    expect(answer.errors).to.equal(true);
    expect(answer.items.map((item) => Object.keys(item)[0])).to.deep.equal([
      ...['create', 'create', 'create', 'create', 'delete', 'update', 'create', 'create'],
    ]);
    const results = answer.items.map((item) => Object.values(item)[0]);
    expect(results.map((result) => result?.status)).to.deep.equal([201, 400, 400, 400, 400, 400, 400, 201]);
    expect(results[1]?.error).to.deep.equal({
      type: 'document_parsing_exception',
      reason: 'not a JSON object: unexpected end at byte 8',
    });
    expect(results[2]?.error?.reason).to.equal('not a JSON object: unexpected "x" at byte 13');
    expect(results[6]?.error?.reason).to.match(/^no message/);
  });

  it('skips blank lines, also inside a pair, and counts them for no entry', () => {
    const body = `${CREATE}\n\n{"_msg":"a"}\n\r\n${CREATE}\r\n\r\n\n{"_msg":"b"}\n{"index":{}}\n\n{"level":"x"}\n`;
    const result = normalize(esBulk, body);
    expect(messages(result)).to.deep.equal(['a', 'b']);
    const { items } = JSON.parse(('ack' in result && (result.ack.body as string)) || '{}') as {
      items: Record<string, { status: number }>[];
    };
    expect(items.map((item) => Object.entries(item).map(([action, { status }]) => [action, status]).flat())).to.deep.equal([
      ['create', 201], ['create', 201], ['index', 400],
    ]); // prettier-ignore
  });

  it('takes the message of a field whose last part is the name of one, where the document has none of its own', () => {
    const result = normalize(
      esBulk,
      lines(
        ...[CREATE, '{"applog":{"level":"info","message":"a","log":"no"}}'],
        ...[CREATE, '{"a.body":5}'],
        ...[CREATE, '{"applog.message":"no","msg":"b"}'],
        ...[CREATE, '{"applog.messages":"none"}'],
      ),
    );
    expect(messages(result)).to.deep.equal(['a', '5', 'b', '{"applog.messages":"none"}']);
    expect('entries' in result && result.entries[0]?.get('applog.message')).to.equal('a');
  });

  it('answers with a list of many items as it is taken', () => {
    const bad = Array.from({ length: 1200 }, (_, i) => [CREATE, i % 400 === 7 ? '5' : '{"_msg":"a"}']).flat();
    const result = normalize(esBulk, lines(...bad));
    const items = 'ack' in result ? (JSON.parse(result.ack.body as string) as { items: { create: { status: number } }[] }).items : [];
    expect(items.flatMap(({ create }, index) => (create.status === 201 ? [] : [index]))).to.deep.equal([7, 407, 807]);
    expect(items).to.have.length(1200);
  });

  it('answers with an empty list in the order of keys that clients look for', () => {
    const result = normalize(esBulk, lines(CREATE, '{"_msg":"a"}'));
    expect('ack' in result && result.ack.body).to.equal('{"took":3,"errors":false,"items":[]}');
  });
  for (const headers of [
    { 'user-agent': 'elasticsearch-js/9.1.0 (linux)' },
    { 'user-agent': 'Filebeat/8.19' },
    { 'user-agent': 'go-elasticsearch/8.1' },
  ]) {
    it(`gives every item to ${headers['user-agent']}`, () => {
      const result = normalize(esBulk, lines(CREATE, '{"_msg":"a"}'), { headers });
      expect('ack' in result && JSON.parse(result.ack.body as string)).to.have.nested.property('items[0].create.status', 201);
    });
  }
  it('names every item by its own action, whatever stands between the pairs', () => {
    const body = `\ufeff${lines('{"index":{}}', '{"_msg":"a"}', '', CREATE, '{"_msg":"b"}', ' {"delete":{}}', '{ "index" :{}}', '{"_msg":"c"}')}`;
    const result = normalize(esBulk, body, { query: 'items=true' });
    const { items } = JSON.parse('ack' in result ? (result.ack.body as string) : '{}') as { items: object[] };
    expect(items.map((item) => Object.keys(item)[0])).to.deep.equal(['index', 'create', 'delete', 'index']);
  });
  it('gives every item where it is asked for', () => {
    const result = normalize(esBulk, lines(CREATE, '{"_msg":"a"}'), { query: 'items=true' });
    expect('ack' in result && JSON.parse(result.ack.body as string))
      .to.have.property('items')
      .with.length(1);
  });

  const bad = (name: string, body: string, detail: RegExp): void => {
    it(name, () => {
      const result = normalize(esBulk, body);
      expect('status' in result && result.status).to.equal(400);
      expect('status' in result && result.detail).to.match(detail);
    });
  };
  bad('refuses an empty body', '', /empty/);
  bad('refuses an unreadable action', lines('{"foo":{}}', '{"_msg":"a"}'), /^Action 1, .* is not one of/);
  bad('refuses an action that is no JSON', lines(CREATE, '{"_msg":"a"}', 'hello', '{"_msg":"b"}'), /^Action 2, "hello"/);
  bad('refuses an action without a document', lines(CREATE, '{"_msg":"a"}') + CREATE, /no document/);
  bad('refuses a body in which no document is readable', lines(CREATE, '{', CREATE, 'x'), /Not one document/);
});

import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { findPlan, type Plan } from '../../../api/tenants/plans.ts';
import { health } from '../../../api/http/endpoint.ts';
import type { Principal } from '../../../api/tenants/principal.ts';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { fieldRulesOf, streamFieldsOf } from '../../../pipeline/logs/request-fields.ts';
import { classCounts, reasonClass } from '../../../api/ingest/reason-class.ts';
import { RejectionLog } from '../../../api/ingest/rejection-log.ts';
import type { IngestLimit, Refund } from '../../../api/limits/ingest-limit.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { shardOf } from '../../../pipeline/intake/shard.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { drainFormat, elasticFormat, linesFormat } from '../../fakes/normalizers.ts';
import { startHost } from '../../fakes/test-host.ts';

/** A limit that notes what it is asked, and refuses where it is told to. */
class FakeLimit implements IngestLimit {
  readonly name = 'fake';
  readonly calls: string[] = [];
  refuseAt = '';
  readonly #label: string;
  constructor(label: string) {
    this.#label = label;
  }
  admit(principal: Principal): void {
    this.#note(`admit ${principal.tenantId}`);
  }
  charge(_principal: Principal, entries: number, bytes: number): Refund {
    this.#note(`charge ${entries} ${bytes}`);
    return () => {
      this.#note(`refund ${entries} ${bytes}`);
    };
  }
  #note(call: string): void {
    if (this.refuseAt !== '' && call.startsWith(this.refuseAt))
      throw new HttpError(429, 'rate_limited', `Refused by ${this.#label}.`, { retryAfter: 3 });
    this.calls.push(call);
  }
}

describe('the ingest route', () => {
  const publisher = new FakeLogPublisher();
  const metrics = new Metrics('test');
  const rejections = new RejectionLog();
  const limits = [new FakeLimit('first'), new FakeLimit('second')];
  const keys = new FakeKeyStore({
    all: { tenantId: 5, plan: findPlan('team') as Plan },
    reader: { scopes: new Set(['read', 'write']) },
    demo: { demo: true },
    logs: { tenantId: 7, plan: { ...(findPlan('team') as Plan), features: { metrics: false, replay: false, projects: 0, ai: false } } },
    few: { tenantId: 6, plan: { ...(findPlan('team') as Plan), streamsPerDay: 3 } },
  });
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const endpoints = ingestEndpoints({
      normalizers: [linesFormat, drainFormat, elasticFormat],
      publisher,
      limits,
      maxBodyBytes: 10_000,
      metrics,
      rejections,
      now: () => 1_795_000_000_000_000_000n,
    });
    host = await startHost({ endpoints: [health, ...endpoints], keys, metrics });
  });
  after(() => host.stop());
  beforeEach(() => {
    publisher.written.length = 0;
    publisher.full = false;
    publisher.fullAfter = Infinity;
    publisher.failing = false;
    for (const limit of limits) {
      limit.calls.length = 0;
      limit.refuseAt = '';
    }
  });

  async function post(
    path: string,
    body: string | Uint8Array,
    headers: Record<string, string> = { authorization: 'Bearer all' },
    method = 'POST',
  ): Promise<{ status: number; headers: Headers; text: string; json: () => Record<string, unknown> }> {
    const response = await fetch(host.url + path, { method, body, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) as Record<string, unknown> };
  }

  it('says so where a body is compressed and does not', async () => {
    for (const [name, body] of [
      ['gzip', gzipSync('one\ntwo')],
      ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0])],
    ] as const) {
      const answer = await post('/lines', body);
      expect(answer.status).to.equal(400);
      expect(answer.text).to.include(`The body is compressed with ${name}`);
    }
    expect((await post('/lines', gzipSync('one'), { authorization: 'Bearer all', 'content-encoding': 'gzip' })).status).to.equal(200);
  });

  it('tells how many entries went to {} since the tenant has too many streams', async () => {
    const many = Array.from({ length: 5 }, (_, i) => `line ${String(i)}`).join('\n');
    const answer = await post('/lines?_stream_fields=_msg,path', many, { authorization: 'Bearer few' });
    expect(answer.headers.get('x-limited-streams')).to.equal('2');
    expect(publisher.written[0]?.entries.filter((entry) => entry.get('_stream') === '{}')).to.have.length(2);
    expect(await metrics.registry.metrics()).to.match(/logweir_limited_stream_entries_total\{format="lines",signal="logs",role="test"\} 2/);
  });

  it('writes the entries for the tenant of the key, and answers as the format does', async () => {
    const answer = await post('/lines', 'one\nbad\ntwo');
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({ accepted: 2 });
    expect(answer.headers.get('x-rejected-entries')).to.equal('1');
    expect(publisher.written).to.have.lengthOf(1);
    expect(publisher.written[0]).to.deep.include({
      options: {
        tenantId: 5,
        partitions: shardOf(5, 1, 2),
        retentionDays: 30,
        receivedAt: 1_795_000_000_000_000_000n,
        streamFields: null,
        fieldRules: null,
        streamsPerDay: 1_000_000,
        seriesPerDay: 500_000,
        utf8Names: false,
        maxRowBytes: 160_000,
      },
      bytes: 11,
    });
    expect(publisher.written[0]?.entries).to.have.lengthOf(2);
    expect(limits[0]?.calls).to.deep.equal(['admit 5', 'charge 2 11']);
  });

  it('counts decompressed bytes', async () => {
    const body = gzipSync('x'.repeat(9000));
    expect((await post('/lines', body, { authorization: 'Bearer all', 'content-encoding': 'gzip' })).status).to.equal(200);
    expect(publisher.written[0]?.bytes).to.equal(9000);
  });

  it('gives the format its request as it needs it', async () => {
    await post('/api/v1/drain?api_key=all&tag=a', 'body', { 'content-type': 'Application/JSON; charset=UTF-8', 'x-custom': 'Value' });
    const request = drainFormat.last;
    expect(request).to.include({ path: '/api/v1/drain', contentType: 'application/json', receivedAt: 1_795_000_000_000_000_000n });
    expect(request?.query.get('tag')).to.equal('a');
    expect(request?.header('x-custom')).to.equal('Value');
    expect(request?.header('missing')).to.equal('');
    expect(request?.body.toString()).to.equal('body');
    await post('/api/v1/drain', new Uint8Array([1]), { authorization: 'Bearer all' });
    expect(drainFormat.last?.contentType).to.equal('');
  });

  it("Elasticsearch's answers carry the product header, whatever they are", async () => {
    for (const [path, headers, status] of [
      ['/_bulk', { authorization: 'Bearer all' }, 200],
      ['/web/_bulk', { authorization: 'Bearer all' }, 200],
      ['/_bulk', {}, 401],
      ['/_bulk', { authorization: 'Bearer x' }, 403],
    ] as const) {
      for (const method of ['POST', 'PUT']) {
        const answer = await post(path, 'x', headers, method);
        expect(answer.status).to.equal(status);
        expect(answer.headers.get('x-elastic-product')).to.equal('Elasticsearch');
        expect(answer.headers.get('content-type')).to.equal('application/json');
        if (status === 200) expect(answer.text).to.equal('{"took":0,"errors":false,"items":[]}');
      }
    }
  });

  describe('order of checks', () => {
    const huge = 'x'.repeat(20_000);
    it('the key comes before everything', async () => {
      for (const limit of limits) limit.refuseAt = 'admit';
      publisher.full = true;
      expect((await post('/lines', huge, {})).status).to.equal(401);
      expect((await post('/lines', huge, { authorization: 'Bearer no' })).status).to.equal(403);
      expect((await post('/lines', huge, { authorization: 'Bearer reader' })).json()['detail']).to.contain('`ingest`');
    });
    it('then gates and quota', async () => {
      (limits[1] as FakeLimit).refuseAt = 'admit';
      publisher.full = true;
      const answer = await post('/lines', huge);
      expect(answer.json()).to.include({ error: 'rate_limited', detail: 'Refused by second.', retry_after: 3 });
      expect(answer.headers.get('retry-after')).to.equal('3');
    });
    it('then pressure', async () => {
      publisher.full = true;
      expect((await post('/lines', huge)).json()).to.include({ error: 'backpressure', retry_after: 5 });
    });
    it('and pressure again once the body is there, before it is decoded', async () => {
      publisher.fullAfter = 1;
      const drained = drainFormat.last;
      expect((await post('/api/v1/drain', 'late')).json()).to.include({ error: 'backpressure', retry_after: 5 });
      expect(drainFormat.last).to.equal(drained);
      expect((await post('/api/v1/drain', 'next')).status).to.equal(429);
    });
    it('then the body', async () => {
      (limits[0] as FakeLimit).refuseAt = 'charge';
      expect((await post('/lines', huge)).status).to.equal(413);
      expect((await post('/lines', 'unreadable')).json()).to.include({ error: 'invalid_body' });
      expect((await post('/lines', 'x', { authorization: 'Bearer all', 'content-encoding': 'br' })).json()).to.include({
        error: 'unsupported_encoding',
      });
    });
    it('then the buckets, and nothing is written', async () => {
      (limits[1] as FakeLimit).refuseAt = 'charge';
      expect((await post('/lines', 'one\ntwo')).json()).to.include({ error: 'rate_limited', detail: 'Refused by second.' });
      expect(limits[0]?.calls).to.deep.equal(['admit 5', 'charge 2 7', 'refund 2 7']);
      expect(publisher.written).to.have.lengthOf(0);
    });
    it('what could not be published is given back', async () => {
      publisher.failing = true;
      expect((await post('/lines', 'one')).json()).to.include({ error: 'backpressure' });
      for (const limit of limits) expect(limit.calls).to.deep.equal(['admit 5', 'charge 1 3', 'refund 1 3']);
    });
  });

  it('takes logs where the plan has neither metrics nor replay', async () => {
    expect((await post('/lines', 'one', { authorization: 'Bearer logs' })).status).to.equal(200);
    expect(publisher.written).to.have.lengthOf(1);
  });

  it('the demo tenant may ingest', async () => expect((await post('/lines', 'x', { authorization: 'Bearer demo' })).status).to.equal(200));

  it('a bug in a format is a 500 in the style of the plane', async () => {
    const answer = await post('/lines', 'bug');
    expect(answer.status).to.equal(500);
    expect(answer.json()).to.have.all.keys('error', 'detail', 'request_id');
    expect(answer.text).not.to.contain('normalizer');
  });

  it('counts entries, bytes, rejections and errors', async () => {
    await post('/lines', 'one\nbad');
    await post('/lines', 'unreadable');
    const text = await metrics.registry.metrics();
    expect(text).to.match(/logweir_entries_total\{format="lines",signal="logs",role="test"\} \d+/);
    expect(text).to.match(/logweir_ingest_bytes_total\{format="lines",signal="logs",role="test"\} \d+/);
    expect(text).to.match(/logweir_rejected_entries_total\{format="lines",signal="logs",reason="form",role="test"\} \d+/);
    expect(text).to.match(/logweir_errors_total\{slug="invalid_body",status="400",role="test"\} \d+/);
    expect(text).to.contain('route="/lines",method="POST",status="200"');
  });

  describe('keeps what was refused, for its tenant to see', () => {
    const time = '2026-11-18T11:06:40.000Z';
    const kept = (count: number): unknown => rejections.of(5).slice(0, count);

    it('entries of a request that was accepted', async () => {
      const id = (await post('/lines?api_key=in-the-query', 'one\nbad 1\ntwo\nbad 2')).headers.get('x-request-id');
      const from = { time, format: 'lines', reason: 'not a line', request_id: id, status: 200, path: '/lines', client: 'node' };
      expect(kept(2)).to.deep.equal([
        { ...from, sample: 'bad 2', index: 3 },
        { ...from, sample: 'bad 1', index: 1 },
      ]);
    });

    const whole: readonly (readonly [string, string | Uint8Array, Record<string, string>, RegExp, string])[] = [
      ['that cannot be read', 'unreadable', {}, /^The body cannot be read\.$/, 'unreadable'],
      ['in an encoding that is not supported', 'x', { 'content-encoding': 'br' }, /"br" is not supported/, ''],
      ['whose compression is corrupt', 'x', { 'content-encoding': 'gzip' }, /gzip/, ''],
    ];
    for (const [name, body, headers, reason, sample] of whole) {
      it(`a request ${name}`, async () => {
        const answer = await post('/lines', body, { authorization: 'Bearer all', ...headers });
        expect(answer.status).to.equal(400);
        const [last] = rejections.of(5);
        expect(last).to.deep.include({ time, format: 'lines', sample, index: null, status: 400, path: '/lines', client: 'node' });
        expect(last).to.deep.include({ request_id: answer.headers.get('x-request-id') });
        expect(last?.reason).to.match(reason).and.to.equal(answer.json()['detail']);
      });
    }

    it('but of a request that is to come again, was too large, or came without a right what the host notes alone', async () => {
      const before = rejections.of(5);
      publisher.failing = true;
      expect((await post('/lines', 'bad 3')).status).to.equal(429);
      publisher.failing = false;
      expect((await post('/lines', 'x'.repeat(20_000))).status).to.equal(413);
      expect((await post('/lines', 'bad 4', { authorization: 'Bearer reader' })).status).to.equal(403);
      expect((await post('/lines', 'bug')).status).to.equal(500);
      expect(rejections.of(5)).to.deep.equal(before);
    });

    it('and never a key or a query', async () => {
      await post('/api/v1/drain?api_key=all&secret=hidden', 'x');
      await post('/lines?secret=hidden', 'bad\nunreadable');
      expect(JSON.stringify(rejections.of(5))).not.to.match(/api_key|hidden|in-the-query|Bearer/);
    });
  });

  it('a format and the credential forms must agree on api_key', () => {
    const make = (path: string, keyInQuery?: true): unknown =>
      ingestEndpoints({
        normalizers: [{ ...linesFormat, paths: [path], ...(keyInQuery === undefined ? {} : { keyInQuery }) }],
        publisher,
        limits: [],
        maxBodyBytes: 1,
        metrics,
      });
    expect(() => make('/gelf')).to.throw('BUG');
    expect(() => make('/lines', true)).to.throw('BUG');
    make('/gelf', true);
  });
});

describe('stream fields of a request', () => {
  const rows: readonly (readonly [string, Record<string, string>, string, readonly string[] | null])[] = [
    ['none', {}, '', null],
    ['X-Stream-Fields', { 'x-stream-fields': 'app, host' }, '', ['app', 'host']],
    ['VL-Stream-Fields', { 'vl-stream-fields': 'app' }, '', ['app']],
    ['the query', {}, '_stream_fields=app,host', ['app', 'host']],
    ['a header before the query', { 'x-stream-fields': 'a' }, '_stream_fields=b', ['a']],
    ['blanks, repeats and empty names', { 'x-stream-fields': ' a ,, a,b ' }, '', ['a', 'b']],
    ['commas alone', { 'x-stream-fields': ' , ' }, '', null],
  ];
  for (const [name, headers, query, fields] of rows) {
    it(name, () =>
      expect(streamFieldsOf({ header: (header) => headers[header] ?? '', query: new URLSearchParams(query) })).to.deep.equal(fields),
    );
  }
});

describe('fields that a request names', () => {
  const rulesOf = (headers: Readonly<Record<string, string>>, query: string): ReturnType<typeof fieldRulesOf> =>
    fieldRulesOf({ header: (header) => headers[header] ?? '', query: new URLSearchParams(query) });

  it('by parameter, or by header', () => {
    expect(rulesOf({}, '_msg_field=title, text&_time_field=when&ignore_fields=a,b.*&extra_fields=env=prod,zone=a=b')).to.deep.equal({
      ...{ messages: ['title', 'text'], times: ['when'], ignored: ['a', 'b.*'] },
      extra: [['env', 'prod'], ['zone', 'a=b']], // prettier-ignore
    });
    const headers = { 'vl-msg-field': 'title', 'vl-time-field': 'when', 'vl-ignore-fields': 'a', 'vl-extra-fields': 'b=1' };
    expect(rulesOf(headers, '')).to.deep.equal({ messages: ['title'], times: ['when'], ignored: ['a'], extra: [['b', '1']] });
    expect(rulesOf(headers, '_msg_field=other')?.messages).to.deep.equal(['other']);
    expect(rulesOf({}, '')).to.equal(null);
  });
  it('are a 400 where they cannot be followed', () => {
    const many = Array.from({ length: 101 }, (_none, index) => `f${String(index)}`).join(',');
    for (const query of [
      `_msg_field=${many}`,
      `ignore_fields=${'n'.repeat(257)}`,
      'extra_fields=novalue',
      'extra_fields==v',
      `extra_fields=a=${'v'.repeat(4096)}`,
    ])
      expect(() => rulesOf({}, query), query.slice(0, 40))
        .to.throw(HttpError)
        .with.property('status', 400);
  });
});

describe('classes of reasons', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['the entries before it take more than 33554432 bytes as they are stored', 'over_a_limit'],
    ['longer than 8000000 bytes as it would be stored', 'over_a_limit'],
    ['_time is not a time: "x"', 'time_unreadable'],
    ['_time is older than the retention of 14 days', 'time_out_of_bounds'],
    ['_time is more than 2 days ahead', 'time_out_of_bounds'],
    ['_time is after the year 2261', 'time_out_of_bounds'],
    ['_time is before the year 1900', 'time_out_of_bounds'],
    ['no message: none of _msg, message', 'no_message'],
    ['the action "delete" is not supported: logs are only added', 'action_not_supported'],
    ['the entry has more than 1000 fields', 'over_a_limit'],
    ['a field name is longer than 256 bytes', 'over_a_limit'],
    ['a field name of more than 256 bytes: "more…"…', 'over_a_limit'],
    ['nested deeper than 64 levels', 'over_a_limit'],
    ['more than 1000 fields', 'over_a_limit'],
    ['more than 10 log events in one request; the rest of this record is not read', 'over_a_limit'],
    ['a tag longer than 256 bytes', 'over_a_limit'],
    ['too many or too deep fields in the structured metadata', 'over_a_limit'],
    ['a record without fields', 'no_message'],
    ['the event field is blank', 'no_message'],
    ['the event field is missing', 'no_message'],
    ['not a JSON object', 'form'],
    ['not a JSON object: unexpected "more than 5" at byte 3', 'form'],
    ['not a JSON object: unexpected "not support" at byte 3', 'form'],
    ['not MessagePack, or cut off, at byte 7; what follows is not read', 'form'],
    ['the data of the record is not base64', 'form'],
  ];
  for (const [reason, name] of rows) it(`${reason}: ${name}`, () => expect(reasonClass(reason)).to.equal(name));

  it('counts by class', () => {
    const reasons = new Map([
      ['not a JSON object', 2],
      ['more than 1000 fields', 7],
      ['a forward message without a record', 3],
    ]);
    expect([...classCounts(reasons)]).to.deep.equal([
      ['form', 5],
      ['over_a_limit', 7],
    ]);
  });
});

import { expect } from 'chai';
import { cpuCost } from '../../fakes/cpu-cost.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { textOf } from '../../../pipeline/core/entry.ts';
import { hecEvent } from '../../../pipeline/normalizers/hec-event.ts';
import { newWriter } from '../logs/entry-lines.ts';
import { messages, normalize, type RequestOptions, type Result } from './normalize.ts';

const MEGABYTE = 1_048_576;

function taken(body: string, options: RequestOptions = {}): Result {
  const result = normalize(hecEvent, body, options);
  if (!('entries' in result)) throw new Error(`${String(result.status)} ${result.detail}`);
  return result;
}

/** The one entry of a body. */
const entryOf = (body: string): Record<string, string> =>
  Object.fromEntries([...(taken(body).entries[0] ?? [])].map(([name, value]) => [name, textOf(value)]));

describe('normalizer hec_event', () => {
  const ok = (name: string, body: string, expected: string[]): void => {
    it(name, () => expect(messages(normalize(hecEvent, body))).to.deep.equal(expected));
  };
  ok('takes events one after the other', '{"event":"a"}{"event":"b"} {"event":"c"}\n{"event":"d"}', ['a', 'b', 'c', 'd']);
  ok('takes an array', '[{"event":"a"},{"event":"b"}]', ['a', 'b']);
  ok('takes an event over several lines', '{\n  "event": "a"\n}', ['a']);
  ok('takes any JSON as an event', '{"event":5}{"event":true}{"event":["a", 1]}{"event":{"k":1}}', ['5', 'true', '["a",1]', '{"k":1}']);
  ok('finds the message of an object', '{"event":{"message":"a"}}{"event":{"msg":"b"}}{"event":{"log":"c"}}{"event":{"event":"d"}}', [
    'a',
    'b',
    'c',
    'd',
  ]);
  ok(
    "finds the message of Splunk's own loggers",
    '{"event":{"message":{"event":"a"},"severity":"warn"}}{"event":{"message":"b","severity":"info"}}{"event":{"message":{"message":"c"}}}{"event":{"message":{"msg":"d"}}}',
    ['a', 'b', 'c', 'd'],
  );
  ok('keeps a metric event', '{"event":"metric","fields":{"metric_name:cpu":1}}', ['metric']);
  ok('replaces lone surrogates', '{"event":"\\ud83d!"}', ['\ufffd!']);

  const times: [string, string][] = [
    ['1795215734.956', '2026-11-20T23:02:14.956Z'],
    ['"1795215734.956"', '2026-11-20T23:02:14.956Z'],
    ['1795215734', '2026-11-20T23:02:14Z'],
    ['1795215734956', '2026-11-20T23:02:14.956Z'],
    ['1795215734956123456', '2026-11-20T23:02:14.956123456Z'],
    ['1.795215734956E9', '2026-11-20T23:02:14.956Z'],
    ['"2026-11-20T23:02:14Z"', '2026-11-20T23:02:14Z'],
    ['null', '2026-11-21T14:00:00Z'],
    ['0', '2026-11-21T14:00:00Z'],
    ['""', '2026-11-21T14:00:00Z'],
  ];
  for (const [time, expected] of times)
    it(`reads the time ${time}`, () => expect(entryOf(`{"time":${time},"event":"a"}`)['_time']).to.equal(expected));
  it('takes the time of the event where the envelope has none', () =>
    expect(entryOf('{"event":{"message":"a","timestamp":"2026-11-20T10:00:00Z"}}')['_time']).to.equal('2026-11-20T10:00:00Z'));
  it('does not carry metadata over to the next event', () => {
    const { entries } = taken('{"time":1795215734,"host":"h","event":"a"}{"event":"b"}');
    const second = entries.find((entry) => entry.get('_msg') === 'b');
    expect([...(second ?? new Map<string, string>()).keys()]).to.not.include('host');
    expect(second?.get('_time')).to.equal('2026-11-21T14:00:00.000000001Z');
  });

  it('keeps metadata and fields, which go before members of the event', () => {
    const body =
      '{"fields":{"k":"field","n":12345678901234567890},"event":{"message":"a","host":"inner","k":"event","x":{"y":1}},"host":"h","source":"s","sourcetype":"_json","index":"main","other":1}';
    expect(entryOf(body)).to.deep.equal({
      _time: '2026-11-21T14:00:00Z',
      _stream: '{host="h",index="main",source="s"}',
      _msg: 'a',
      host: 'h',
      source: 's',
      sourcetype: '_json',
      index: 'main',
      k: 'field',
      n: '12345678901234567890',
      'x.y': '1',
    });
  });
  it('keeps the text of an event that is JSON, and has its members beside it', () => {
    expect(entryOf('{"host":"h","event":"{\\"host\\":\\"x\\",\\"level\\":\\"warn\\"}"}')).to.include({
      _msg: '{"host":"x","level":"warn"}',
      host: 'h',
      level: 'warn',
    });
  });
  it('takes `__proto__` as any name', () => {
    expect(entryOf('{"event":{"message":"a","__proto__":{"x":1}},"fields":{"constructor":"c"}}')).to.include({
      '__proto__.x': '1',
      constructor: 'c',
    });
  });

  it('rejects bad events alone', () => {
    const { entries, rejected, ack } = taken(
      '{"event":"a"}{"time":1}{"event":""}{"event":{}}{"event":"x","fields":5}{"event":"x","time":"soon"}\n5\n{"event":\n{"event":"b"}',
    );
    expect(entries.map((entry) => entry.get('_msg'))).to.deep.equal(['a', 'b']);
    expect(rejected).to.have.length(7);
    expect(ack).to.deep.equal({ status: 200, headers: { 'X-Rejected-Entries': '7' }, body: { text: 'Success', code: 0 } });
  });
  it('answers with an id where the request has a channel', () => {
    const ids = [{ headers: { 'x-splunk-request-channel': 'hec-event-test' } }, { query: 'channel=hec-event-test' }, {}].map(
      (options) => taken('{"event":"a"}', options).ack.body as { ackId?: number },
    );
    expect(ids).to.deep.equal([
      { text: 'Success', code: 0, ackId: 0 },
      { text: 'Success', code: 0, ackId: 1 },
      { text: 'Success', code: 0 },
    ]);
  });

  const bad = (name: string, body: string, code: number, eventNumber?: number): void => {
    it(`answers ${name} with code ${String(code)}`, () => {
      const request = { ...EMPTY, body: Buffer.from(body) };
      expect(() => {
        hecEvent.normalize(request, newWriter());
      })
        .to.throw(HttpError)
        .that.deep.includes({ status: 400, options: { code, ...(eventNumber === undefined ? {} : { eventNumber }) } });
    });
  };
  const EMPTY = { path: '', contentType: '', query: new URLSearchParams(), header: (): string => '', maxBytes: MEGABYTE, receivedAt: 0n };
  bad('an empty body', ' \n', 5);
  bad('what is no JSON', 'hello', 6, 0);
  bad('a number', '[5]', 6, 0);
  bad('an event without one', '{"time":1}', 12, 0);
  bad('an event that is null', '{"event":null}', 12, 0);
  bad('a time that is none', '{"event":"a","time":"soon"}', 6, 0);
  bad('a blank event', '{"event":""}', 13, 0);
  bad('an empty event', '{"event":{}}', 13, 0);
  bad('fields that are none', '{"event":"a","fields":[]}', 15, 0);

  const hostile: Record<string, string> = {
    'nested envelopes': '{"event":'.repeat(230_000),
    'nested envelopes, one a line': '{"event":\n'.repeat(200_000),
    'empty envelopes': '{}'.repeat(MEGABYTE),
    'a text of open objects': `{"event":${JSON.stringify('{"a":'.repeat(300_000))}}`,
    'a long time': `{"event":1,"time":"${'1'.repeat(2_000_000)}"}`,
  };
  for (const [name, body] of Object.entries(hostile))
    it(`answers ${name} in time`, () => {
      expect(cpuCost(() => normalize(hecEvent, body, { timed: true }))).to.be.below(300);
    }).timeout(240_000);
});

import { expect } from 'chai';
import { zipkin } from '../../../pipeline/normalizers/zipkin.ts';
import { takeSpans, type TakenSpans } from '../traces/take-spans.ts';

const span = (more: object = {}): object => ({
  ...{ traceId: '463ac35c9f6413ad48485a3953bb6124', id: 'a2fb4a1d1a96d312', name: 'get', timestamp: 1_795_217_449_239_001, duration: 7 },
  ...more,
});
function taken(body: unknown): TakenSpans {
  const result = takeSpans(zipkin, typeof body === 'string' ? body : JSON.stringify(body));
  if ('status' in result) throw new Error(result.detail);
  return result;
}
const reasonsOf = (body: unknown): string[] => taken(body).rejected.map(({ reason }) => reason);

describe('normalizer zipkin', () => {
  it('answers 202 without a body, and counts what was rejected in a header', () => {
    expect(taken([span()]).ack).to.deep.equal({ status: 202, headers: {} });
    expect(taken([span(), span({ id: '' })]).ack).to.deep.equal({ status: 202, headers: { 'X-Rejected-Entries': '1' } });
    expect(taken([]).total).to.equal(0);
  });

  it('reads times of microseconds, and a span without one by its first annotation', () => {
    const [own] = taken([span()]).entries;
    expect([own?.['time'], own?.['duration']]).to.deep.equal(['1795217449239001000', '7000']);
    const annotations = [
      { timestamp: 1_795_217_449_240_000, value: 'cr' },
      { timestamp: 1_795_217_449_239_500, value: 'cs' },
    ];
    const [first] = taken([span({ timestamp: undefined, annotations })]).entries;
    expect(first?.['time']).to.equal('1795217449239500000');
    expect(reasonsOf([span({ timestamp: undefined })])).to.deep.equal(['_time is not a time: the span has no start time']);
  });

  it('pads ids, and tells client and server that share one apart by their kind', () => {
    const rows = taken([span({ traceId: 'abc', kind: 'CLIENT' }), span({ traceId: 'abc', kind: 'SERVER', shared: true })]).entries;
    expect(rows.map((row) => [row['traceId'], row['kind']])).to.deep.equal([
      ['00000000000000000000000000000abc', 3],
      ['00000000000000000000000000000abc', 2],
    ]);
  });

  it('makes a status of the tag error, and of the tags of OpenTelemetry', () => {
    const status = (tags: object): unknown => {
      const [row] = taken([span({ tags })]).entries;
      return [row?.['status'], row?.['statusMessage']];
    };
    expect(status({ error: 'timeout' })).to.deep.equal([2, 'timeout']);
    expect(status({ error: 'true' })).to.deep.equal([2, undefined]);
    expect(status({ error: 'false' })).to.deep.equal([undefined, undefined]);
    expect(status({ 'otel.status_code': 'ERROR', 'otel.status_description': 'bad' })).to.deep.equal([2, 'bad']);
    expect(status({ 'otel.status_code': 'OK', error: '' })).to.deep.equal([1, undefined]);
  });

  it('bounds attributes, events and depth', () => {
    const tags = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`t${String(n)}`, 'x']));
    expect(reasonsOf([span({ tags }), span()])).to.deep.equal(['more than 1000 attributes']);
    const annotations = Array.from({ length: 1030 }, () => ({ timestamp: 1, value: 'a' }));
    expect(taken([span({ annotations })]).entries[0]).to.include({ droppedEvents: 6 });
    const deep = JSON.stringify([span({ tags: { a: '@' } })]).replace('"@"', `${'['.repeat(10_000)}${']'.repeat(10_000)}`);
    expect(reasonsOf(deep)).to.deep.equal(['nested deeper than 64 levels']);
  });

  it('answers a body that is no array of spans by 400', () => {
    for (const body of ['', '{}', '[', '[{}', '[{}] x', '\n\u0003abc'])
      expect(takeSpans(zipkin, body), body).to.have.property('status', 400);
  });
});

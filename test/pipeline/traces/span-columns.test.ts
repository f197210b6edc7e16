import { expect } from 'chai';
import { otlpTraces } from '../../../pipeline/normalizers/otlp-traces.ts';
import type { IngestRequest } from '../../../pipeline/normalizers/normalizer.ts';
import type { RowChunk } from '../../../pipeline/intake/rows.ts';
import { spanLayout, type SpanRow } from '../../../pipeline/traces/span.ts';
import { SpanCodec, SpansWriter } from '../../../pipeline/traces/spans-writer.ts';
import { requestOf, tracesProtobuf, type SpanJson } from '../../fixtures/otlp/traces.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';

const span = (number: number): SpanJson => ({
  ...{ traceId: `000000000000000000000000${(number + 1).toString(16).padStart(8, '0')}`, spanId: '00000000000000ff' },
  ...{ startTimeUnixNano: String(RECEIVED_AT), endTimeUnixNano: String(RECEIVED_AT), name: `name ${String(number)}` },
  attributes: [{ key: `key ${String(number)}`, value: { stringValue: `value ${String(number)}` } }],
});

/** The chunks of a request of spans with these numbers. */
function chunksOf(codec: SpanCodec, first: number, count: number): RowChunk[] {
  const body = tracesProtobuf(
    requestOf(
      Array.from({ length: count }, (_, row) => span(first + row)),
      { attributes: [{ key: 'r', value: { stringValue: String(first) } }] },
    ),
  );
  const writer = new SpansWriter(codec, { tenantId: 1, partitions: [0], retentionDays: 0, receivedAt: RECEIVED_AT, maxRowBytes: Infinity });
  const request: IngestRequest = {
    ...{ path: '/v1/traces', contentType: 'application/x-protobuf', query: new URLSearchParams(), header: () => '' },
    ...{ body, maxBytes: body.length, receivedAt: RECEIVED_AT },
  };
  otlpTraces.normalize(request, writer);
  expect(writer.accepted).to.equal(count);
  return writer.chunks();
}

function rowsOf(chunk: RowChunk): SpanRow[] {
  const { count } = chunk;
  const rows = spanLayout.read(chunk.encode().value, count);
  if (typeof rows === 'string') throw new Error(rows);
  return rows;
}
const numbersOf = (rows: readonly SpanRow[]): unknown[] =>
  rows.map(({ name, attributes, resource, scope }) => [name, ...(attributes[0] ?? []), resource, scope]);
const expected = (first: number, count: number): unknown[] =>
  Array.from({ length: count }, (_, row) => {
    const number = String(first + row);
    return [`name ${number}`, `key ${number}`, `value ${number}`, `{"r":"${String(first)}"}`, 'lib'];
  });

describe('columns of spans', () => {
  it('are right while their words are forgotten and learnt again', () => {
    const codec = new SpanCodec();
    // a table of words begins anew after 20,000
    for (let first = 0; first < 25_000; first += 5000)
      expect(chunksOf(codec, first, 5000).flatMap((chunk) => numbersOf(rowsOf(chunk)))).to.deep.equal(expected(first, 5000));
  });

  it('join those of other requests, also where words were forgotten in between', () => {
    const codec = new SpanCodec();
    const [whole] = chunksOf(codec, 0, 3000);
    if (whole === undefined) throw new Error('no chunk');
    const [other] = chunksOf(codec, 3000, 3000);
    if (other === undefined) throw new Error('no chunk');
    expect(whole.fits(other)).to.equal(true);
    whole.append(other);
    chunksOf(codec, 6000, 15_000);
    const [late] = chunksOf(codec, 21_000, 100);
    if (late === undefined) throw new Error('no chunk');
    whole.append(late);
    expect(whole.count).to.equal(6100);
    expect(numbersOf(rowsOf(whole))).to.deep.equal([...expected(0, 3000), ...expected(3000, 3000), ...expected(21_000, 100)]);
  });

  it('are cut where a record is full', () => {
    const chunks = chunksOf(new SpanCodec(), 0, 24_000);
    expect(chunks.length).to.be.above(1);
    for (const chunk of chunks) expect(chunk.size).to.be.below(2_100_000);
    expect(chunks.flatMap((chunk) => numbersOf(rowsOf(chunk)))).to.deep.equal(expected(0, 24_000));
  });

  it('are what the layout writes', () => {
    const [chunk] = chunksOf(new SpanCodec(), 7, 300);
    if (chunk === undefined) throw new Error('no chunk');
    const { value } = chunk.encode();
    const rows = spanLayout.read(value, 300) as SpanRow[];
    expect(spanLayout.encode(rows).equals(value)).to.equal(true);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { derivedRows } from '../../fakes/derived-rows.ts';
import { derivedSamples, seriesLabels } from '../../../pipeline/samples/derived-samples.ts';
import { sampleLayout } from '../../../pipeline/samples/sample.ts';
import { DEFINITIONS_AT } from '../../../pipeline/samples/samples-record.ts';
import { influx } from '../../../pipeline/normalizers/influx.ts';
import type { IngestRequest } from '../../../pipeline/normalizers/normalizer.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';
import { writerOf } from './take-samples.ts';

const bitsOf = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0] as bigint;

describe('samples that the service makes', () => {
  it('are records that a sink takes, with labels, times and values bit for bit, and markers', () => {
    const text = fc.string({ minLength: 1, maxLength: 10, unit: 'grapheme' });
    const sample = fc.record({
      labels: fc.dictionary(text, text, { minKeys: 1, maxKeys: 4 }).map((pairs) => seriesLabels(Object.entries(pairs))),
      time: fc.integer({ min: 0, max: 1_900_000_000_000 }),
      value: fc.option(fc.double(), { nil: null }),
    });
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: 30 }), (samples) => {
        const found = derivedRows(derivedSamples({ tenantId: 7, retentionDays: 14 }, samples));
        expect(found.map(({ labels, time, bits }) => ({ labels, time, bits }))).to.deep.equal(
          samples.map(({ labels, time, value }) => ({
            labels: Object.fromEntries(labels),
            ...{ time, bits: value === null ? 0x7ff0000000000002n : bitsOf(value) },
          })),
        );
      }),
    );
  });

  it('are of the same series as what a sender sends with these labels', () => {
    const labels = seriesLabels([['host', 'h"1'], ['__name__', 'cpu']]); // prettier-ignore
    const [own] = derivedRows(derivedSamples({ tenantId: 1, retentionDays: 0 }, [{ labels, time: 5, value: 1 }]));
    const writer = writerOf();
    const request: IngestRequest = {
      ...{ path: '/write', contentType: '', query: new URLSearchParams('precision=ms'), header: () => '' },
      ...{ body: Buffer.from('cpu,host=h"1 value=1 1795478400000'), maxBytes: 1000, receivedAt: RECEIVED_AT },
    };
    influx.normalize(request, writer);
    const [sent] = writer.chunks().flatMap((chunk) => {
      const { count } = chunk;
      const { value, headers } = chunk.encode();
      const rows = sampleLayout.read(value.subarray(0, Number(headers[DEFINITIONS_AT])), count);
      if (typeof rows === 'string') throw new Error(rows);
      return rows;
    });
    expect(own?.series).to.equal(sent?.series);
  });

  it('are cut into records', () => {
    const labels = seriesLabels([['__name__', 'x'], ['long', 'y'.repeat(5000)]]); // prettier-ignore
    const samples = Array.from({ length: 300 }, (_none, index) => ({ labels, time: index, value: index }));
    const records = derivedSamples({ tenantId: 1, retentionDays: 0 }, samples);
    expect(records.length).to.be.within(3, 6);
    expect(derivedRows(records).map(({ time }) => time)).to.deep.equal(samples.map(({ time }) => time));
  });
});

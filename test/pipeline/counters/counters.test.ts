import { expect } from 'chai';
import fc from 'fast-check';
import { readRecord } from '../../../pipeline/bus/records/record.ts';
import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import { countersSignal } from '../../../pipeline/counters/counters-signal.ts';
import { volumeLayout } from '../../../pipeline/counters/volume-layout.ts';
import type { SegmentKey, VolumeRow } from '../../../pipeline/counters/volume-row.ts';
import { framesOf, readFrames } from '../../../pipeline/rows/frames.ts';
import { rowsHeaders } from '../../../pipeline/rows/rows-signal.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { counterRecord, segmentKey, volumeRow } from '../../fakes/counter-record.ts';

const row: fc.Arbitrary<VolumeRow> = fc.record({
  tenantId: fc.integer({ min: 1, max: 0xffff_ffff }),
  retentionDays: fc.integer({ min: 0, max: 65_535 }),
  scope: fc.constantFrom(0, 1, 2),
  time: fc.integer({ min: -2_208_988_800, max: 9_223_372_036 }),
  streamId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  level: fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(Buffer.from('info'))).map((bytes) => Buffer.from(bytes)),
  entries: fc.maxSafeInteger().map((number) => Math.abs(number) || 1),
  bytes: fc.maxSafeInteger().map(Math.abs),
});
const key: fc.Arbitrary<SegmentKey> = fc
  .record({
    partition: fc.integer({ min: 0, max: 65_535 }),
    span: fc.constantFrom(60, 3600, 86_400),
    segment: fc.nat(2 ** 31),
    length: fc.integer({ min: 1, max: 2 ** 31 }),
    run: fc.constantFrom(0, 1_795_000_000_000),
  }) // prettier-ignore
  .map(({ length, ...rest }) => ({ ...rest, until: rest.segment + length }));

/** A value of one row whose bytes are changed: `at` counts from the first value of a column. */
function changed(column: string, at: number, ...bytes: readonly number[]): Buffer {
  const content = Buffer.from(readFrames(volumeLayout.encode([volumeRow()], segmentKey()), Buffer.alloc(0)) ?? []);
  content.set(bytes, content.indexOf(volumeLayout.head(column).bytes) + volumeLayout.head(column).bytes.length + at);
  return framesOf((to) => to.put(content));
}

describe('the rows of the volume', () => {
  it('come back as they were put in', () => {
    fc.assert(
      fc.property(key, fc.array(row, { minLength: 1, maxLength: 50 }), (segment, rows) => {
        expect(volumeLayout.read(volumeLayout.encode(rows, segment), rows.length)).to.deep.equal(
          rows.map((one) => ({ ...one, ...segment })),
        );
      }),
    );
  });

  it('are refused where the value is not as many rows as the header says, cut off, or longer', () => {
    const value = volumeLayout.encode([volumeRow(), volumeRow()], segmentKey());
    for (const count of [0, 1, 3, 60_001]) expect(volumeLayout.read(value, count)).to.be.a('string');
    const content = Buffer.from(readFrames(value, Buffer.alloc(0)) ?? []);
    for (let length = 0; length < content.length; length++)
      expect(volumeLayout.read(framesOf((to) => to.put(content.subarray(0, length))), 2), String(length)).to.be.a('string'); // prettier-ignore
    expect(volumeLayout.read(framesOf((to) => to.put(Buffer.concat([content, Buffer.from([0])]))), 2)).to.equal('1 bytes follow its last column'); // prettier-ignore
    for (let length = 0; length < value.length; length++) expect(volumeLayout.read(value.subarray(0, length), 2)).to.be.a('string');
  });

  it('are refused where a value cannot be', () => {
    const what = (value: Buffer): string => {
      const found = volumeLayout.read(value, 1);
      return typeof found === 'string' ? found.replace(/ has a value.*| of the exp.*/, '') : 'it was read';
    };
    expect(volumeLayout.read(changed('bytes', 0, 1), 1)).to.be.an('array');
    const cases: readonly (readonly [string, number, readonly number[]])[] = [
      ['tenant_id', 0, [0, 0, 0, 0]],
      ['scope', 0, [3]],
      ['span', 0, [0, 0, 0, 0]],
      ['time', 4, [0, 0, 0, 128]],
      ['time', 4, [3, 0, 0, 0]],
      ['segment', 7, [1]],
      ['segment', 0, [9]],
      ['until', 0, [5]],
      ['until', 7, [128]],
      ['entries', 0, [0, 0, 0, 0, 0, 0, 0, 0]],
      ['entries', 7, [255]],
      ['bytes', 6, [32]],
    ];
    for (const [column, at, bytes] of cases) {
      // whether one can be depends on the one before
      const expected = column === 'segment' && bytes[0] === 9 ? 'until' : column === 'tenant_id' ? 'scope' : column;
      expect(what(changed(column, at, ...bytes)), `${column} ${bytes.join()}`).to.equal(`column ${expected}`);
    }
    expect(what(changed('time', -2, 65)), 'another type').to.equal('column time');
    expect(what(changed('level', 0, 200, 200, 200, 200, 200, 200, 1))).to.be.a('string');
  });

  it('of any bytes are none, or as many as the header says', () => {
    const content = Buffer.from(readFrames(volumeLayout.encode([volumeRow(), volumeRow()], segmentKey()), Buffer.alloc(0)) ?? []);
    fc.assert(
      fc.property(fc.nat(content.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const bytes = Buffer.from(content);
        bytes[at] = byte;
        const rows = volumeLayout.read(framesOf((to) => to.put(bytes)), 2); // prettier-ignore
        return typeof rows === 'string' || rows.length === 2;
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the signal counters', () => {
  const message = (headers: Record<string, string>, value = volumeLayout.encode([volumeRow()], segmentKey())): KafkaMessage => ({
    ...{ key: null, value, timestamp: '1795000000000', attributes: 0, offset: '7' },
    headers,
  });

  it('has records that belong to no tenant, and no others', () => {
    expect(rowsHeaders(countersSignal, 1)).to.include({ signal: 'counters', tenant: '0', retention: '0', count: '1', bytes: '0', sv: '1' });
    expect(readRecord(countersSignal, 3, message(rowsHeaders(countersSignal, 1)))).to.include({ fault: null, tenantId: 0, count: 1 });
    for (const bad of [{ tenant: '1' }, { tenant: '' }, { retention: '7' }, { signal: 'logs' }, { sv: '2' }, { encoding: 'ndjson' }])
      expect(readRecord(countersSignal, 3, message({ ...rowsHeaders(countersSignal, 1), ...bad })).fault, JSON.stringify(bad)).to.not.equal(
        null,
      );
    const ofLogs = { ...rowsHeaders(countersSignal, 0), signal: 'logs', sv: String(logsSignal.version) };
    expect(readRecord(logsSignal, 3, message(ofLogs)).fault).to.deep.equal({ reason: 'headers', detail: 'The header tenant is not a valid tenant id.' }); // prettier-ignore
  });

  it('checks the value, of records without rows too', () => {
    expect(countersSignal.check(counterRecord([volumeRow()]))).to.equal(null);
    expect(countersSignal.check(counterRecord([]))).to.equal(null);
    expect(countersSignal.check(counterRecord([], { value: Buffer.from('x') }))?.reason).to.equal('rows');
    expect(countersSignal.check(counterRecord([volumeRow()], { count: 2 }))?.reason).to.equal('rows');
  });

  it('knows when each row may be dropped: at the end of its span and its class', () => {
    const [day, end] = [86_400_000, (1_795_003_200 + 60) * 1000];
    const record = counterRecord([volumeRow({ retentionDays: 7 }), volumeRow({ retentionDays: 30 }), volumeRow()]);
    expect(countersSignal.rowEnds(record, end + 7 * day - 1)).to.equal(null);
    expect(countersSignal.rowEnds(record, end + 7 * day)).to.deep.equal([end + 7 * day, end + 30 * day, Infinity]);
    expect(countersSignal.rowEnds(counterRecord([]), end)).to.equal(null);
  });
});

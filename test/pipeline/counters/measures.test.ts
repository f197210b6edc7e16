import { expect } from 'chai';
import fc from 'fast-check';
import { measureLayout } from '../../../pipeline/counters/measure-layout.ts';
import { measureRecords } from '../../../pipeline/counters/measure-records.ts';
import { measureRow, type Measure, type MeasureRow } from '../../../pipeline/counters/measure.ts';
import { measuresSignal } from '../../../pipeline/counters/measures-signal.ts';
import { framesOf, readFrames } from '../../../pipeline/rows/frames.ts';
import { columnHead } from '../../../pipeline/rows/native.ts';

const measure = (more: Partial<Measure> = {}): Measure => ({
  ...{ kind: 'measure', tenantId: 1, retentionDays: 14, name: 'distinct_users', labels: { service: 'web' } },
  ...{ span: 3600, time: 1_795_003_200, value: 12.5 },
  ...more,
});

const row: fc.Arbitrary<MeasureRow> = fc
  .record({
    tenantId: fc.integer({ min: 1, max: 0xffff_ffff }),
    retentionDays: fc.integer({ min: 0, max: 65_535 }),
    name: fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/),
    labels: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), { maxKeys: 5, noNullPrototype: true }),
    span: fc.integer({ min: 1, max: 0xffff_ffff }),
    time: fc.integer({ min: -2_208_988_800, max: 9_223_372_036 }),
    value: fc.double({ noNaN: true, noDefaultInfinity: true }),
    version: fc.maxSafeInteger().map(Math.abs),
  })
  .map(({ version, ...rest }) => measureRow({ kind: 'measure', ...rest }, version));

/** The content of a value with one row, from a column's first byte on with other bytes. */
function changed(column: string, type: string, at: number, ...bytes: readonly number[]): Buffer {
  const content = Buffer.from(
    readFrames(measureLayout.encode([measureRow(measure({ labels: { a: 'x', b: 'y' } }), 7)]), Buffer.alloc(0)) ?? [],
  );
  const head = columnHead(column, type);
  content.set(bytes, content.indexOf(head) + head.length + at);
  return framesOf((to) => to.put(content));
}

describe('the rows of measures', () => {
  it('come back as they were put in', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 30 }), (rows) => {
        expect(measureLayout.read(measureLayout.encode(rows), rows.length)).to.deep.equal(rows);
      }),
    );
  });

  it('are refused where the value is not as many rows as the header says, cut off, or longer', () => {
    const value = measureLayout.encode([measureRow(measure(), 1), measureRow(measure({ labels: {} }), 2)]);
    for (const count of [0, 1, 3, 60_001]) expect(measureLayout.read(value, count)).to.be.a('string');
    const content = Buffer.from(readFrames(value, Buffer.alloc(0)) ?? []);
    for (let length = 0; length < content.length; length++)
      expect(measureLayout.read(framesOf((to) => to.put(content.subarray(0, length))), 2), String(length)).to.be.a('string'); // prettier-ignore
    expect(measureLayout.read(framesOf((to) => to.put(Buffer.concat([content, Buffer.from([0])]))), 2)).to.equal('1 bytes follow its last column'); // prettier-ignore
  });

  it('are refused where a value cannot be', () => {
    expect(measureLayout.read(changed('version', 'UInt64', 0, 9), 1)).to.be.an('array');
    const cases: readonly (readonly [string, string, number, readonly number[]])[] = [
      ['tenant_id', 'UInt32', 0, [0, 0, 0, 0]],
      ['labels', 'Map(String, String)', 0, [200]],
      ['labels', 'Map(String, String)', 7, [1]],
      // the names a and b become a and a
      ['labels', 'Map(String, String)', 11, [0x61]],
      ['span', 'UInt32', 0, [0, 0, 0, 0]],
      ['time', "DateTime64(0, 'UTC')", 4, [3, 0, 0, 0]],
      ['value', 'Float64', 6, [0xf0, 0x7f]],
      ['value', 'Float64', 6, [0xf8, 0x7f]],
      ['version', 'UInt64', 7, [128]],
    ];
    for (const [column, type, at, bytes] of cases)
      expect(measureLayout.read(changed(column, type, at, ...bytes), 1), `${column} ${bytes.join()}`).to.match(
        new RegExp(`^column ${column} `),
      );
  });

  it('of any bytes are none, or as many as the header says', () => {
    const content = Buffer.from(readFrames(measureLayout.encode([measureRow(measure(), 1)]), Buffer.alloc(0)) ?? []);
    fc.assert(
      fc.property(fc.nat(content.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const bytes = Buffer.from(content);
        bytes[at] = byte;
        const rows = measureLayout.read(framesOf((to) => to.put(bytes)), 1); // prettier-ignore
        return typeof rows === 'string' || rows.length === 1;
      }),
      { numRuns: 2000 },
    );
  });

  it('are those of measures alone', () => {
    const many = Object.fromEntries(Array.from({ length: 17 }, (_none, n) => [`l${String(n)}`, '']));
    const wrong: readonly Partial<Measure>[] = [
      ...['', 'A', '1a', 'a-b', 'a'.repeat(101), "a'"].map((name) => ({ name })),
      ...[{ labels: many }, { labels: { ['a'.repeat(2049)]: '' } }],
      ...[0, 1.5, -1, 2 ** 32, NaN].map((span) => ({ span })),
      ...[{ time: 0.5 }, { time: NaN }, { value: NaN }, { value: Infinity }, { time: 1e13 }],
      ...[{ tenantId: 0 }, { tenantId: NaN }, { tenantId: 2 ** 32 }, { retentionDays: -1 }, { retentionDays: 65_536 }],
    ];
    for (const one of wrong) expect(() => measureRow(measure(one), 1), JSON.stringify(one)).to.throw('The measure ');
    expect(measureRow(measure({ labels: { a: 'ü'.repeat(1025) } }), 1).labels).to.deep.equal([['a', 'ü'.repeat(1024)]]);
    expect(measureRow(measure({ labels: { b: '1', a: '2' } }), 1).labels).to.deep.equal([
      ['a', '2'],
      ['b', '1'],
    ]);
  });

  it('are cut into records of about 256 KiB', () => {
    const records = measureRecords(
      4,
      Array.from({ length: 500 }, (_none, n) => measure({ labels: { service: `${String(n)}${'x'.repeat(2000)}` } })),
      9,
    );
    expect(records.length).to.be.above(2);
    const rows = records.flatMap(({ value, headers }) => measureLayout.read(value, Number(headers['count'])) as MeasureRow[]);
    expect(rows).to.have.length(500);
    expect(records[0]).to.include({ topic: 'measures.v1', partition: 4, key: null });
    expect(measureRecords(4, [], 9)).to.deep.equal([]);
  });
});

describe('the signal measures', () => {
  it('knows when each row may be dropped: at the end of its span and its class', () => {
    const [record] = measureRecords(0, [measure(), measure({ retentionDays: 0 })], 1);
    const end = (1_795_003_200 + 3600 + 14 * 86_400) * 1000;
    const read = { ...{ partition: 0, offset: 1, timestamp: 0, tenantId: 0, retentionDays: 0, count: 2, bytes: 0, encoding: 'columns' }, value: record?.value ?? Buffer.alloc(0), replayOf: null, fault: null, original: { key: null, value: null, headers: {}, timestamp: '0' } }; // prettier-ignore
    expect(measuresSignal.check(read)).to.equal(null);
    expect(measuresSignal.check({ ...read, count: 1 })?.reason).to.equal('rows');
    expect(measuresSignal.rowEnds(read, end - 1)).to.equal(null);
    expect(measuresSignal.rowEnds(read, end)).to.deep.equal([end, Infinity]);
  });
});

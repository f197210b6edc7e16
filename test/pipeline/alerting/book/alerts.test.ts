import { expect } from 'chai';
import fc from 'fast-check';
import { alertLayout, alertRow, idOf, type AlertRow, alertRecords, alertsSignal } from '../../../../pipeline/alerting/book/alert.ts';
import { framesOf, readFrames } from '../../../../pipeline/rows/frames.ts';
import { alert, alertsRange, FIRED, told } from '../../../fakes/alerts-record.ts';

const time = fc.integer({ min: -2_208_988_800, max: 9_223_372_036 });
const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const count = fc.maxSafeInteger().map(Math.abs);

const row: fc.Arbitrary<AlertRow> = fc.record({
  tenantId: fc.integer({ min: 1, max: 0xffff_ffff }),
  retentionDays: fc.integer({ min: 0, max: 65_535 }),
  id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  part: fc.constantFrom(0, 1),
  version: count,
  ...{ firedAt: time, updatedAt: time, resolvedAt: time },
  ...{ detector: text, stream: text, service: text, title: text, description: text, evidence: text, note: text },
  severity: fc.constantFrom('info', 'warning', 'critical'),
  state: fc.constantFrom('firing', 'resolved'),
  fireCount: fc.integer({ min: 0, max: 0xffff_ffff }),
  incidentId: count,
});

describe('the rows of alerts', () => {
  it('come back as they were put in', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
        expect(alertLayout.read(alertLayout.encode(rows), rows.length)).to.deep.equal(rows);
      }),
      { numRuns: 50 },
    );
  });

  it('are refused where the value is cut off, longer, or says what cannot be', () => {
    const content = Buffer.from(readFrames(alertLayout.encode(told({})), Buffer.alloc(0)) ?? []);
    for (let length = 0; length < content.length; length += 7)
      expect(alertLayout.read(framesOf((to) => to.put(content.subarray(0, length))), 1)).to.be.a('string'); // prettier-ignore
    expect(alertLayout.read(framesOf((to) => to.put(Buffer.concat([content, Buffer.from([0])]))), 1)).to.equal('1 bytes follow its last column'); // prettier-ignore
    for (const wrong of [{ tenantId: 0 }, { id: 0 }])
      expect(alertLayout.read(alertLayout.encode(told(wrong)), 1), JSON.stringify(wrong)).to.match(/^column .* has a value that cannot be$/); // prettier-ignore
    expect(alertLayout.read(alertLayout.encode([{ ...alertRow(alert(), 1), part: 2 }]), 1)).to.equal('column part has a value that cannot be'); // prettier-ignore
  });

  it('have texts of a bounded length, cut between characters, and no evidence that is larger', () => {
    const { title, note, stream } = alertRow(alert({ title: 'x'.repeat(299) + '😀', note: 'ü'.repeat(5000), stream: 'y'.repeat(5000) }), 1);
    expect([title, note.length, stream.length]).to.deep.equal(['x'.repeat(299) + '\ufffd', 4096, 4096]);
  });

  it('lose the largest members of evidence that is larger than 64 KiB, and are told nevertheless', () => {
    const bounded = (evidence: string): string => alertRow(alert({ evidence }), 1).evidence;
    const links = { query: 'x'.repeat(40_000) };
    const evidence = JSON.stringify({ current_value: 7, streams: 's'.repeat(30_000), links });
    expect(JSON.parse(bounded(evidence))).to.deep.equal({ current_value: 7, streams: 's'.repeat(30_000), omitted: ['links'] });
    const all = JSON.stringify({ a: 'x'.repeat(70_000), b: 'x'.repeat(80_000) });
    expect(JSON.parse(bounded(all))).to.deep.equal({ omitted: ['b', 'a'] });
    expect(bounded(JSON.stringify({ ['n'.repeat(70_000)]: 1 }))).to.equal('{}');
    expect(bounded('x'.repeat(65_537))).to.equal('{"omitted":[]}');
    const most = JSON.stringify({ x: 'y'.repeat(65_528) });
    expect(bounded(most)).to.equal(most);
  });

  it('are cut into records of about 256 KiB, for the partition where they were found', () => {
    const records = alertRecords(4, told(...Array.from({ length: 40 }, () => ({ evidence: JSON.stringify({ x: 'y'.repeat(10_000) }) }))));
    expect(records.length).to.be.above(2);
    expect(records[0]).to.include({ topic: 'alerts.v1', partition: 4, key: null });
    expect(records.reduce((sum, { headers }) => sum + Number(headers['count']), 0)).to.equal(40);
  });
});

describe('the id of an alert', () => {
  it('is a positive integer below 2^53, and the same for the same parts alone', () => {
    const ids = Array.from({ length: 1000 }, (_none, n) => idOf(1, 'log_rate', '{app="a"}', n));
    expect(new Set(ids).size).to.equal(1000);
    for (const id of ids) expect(Number.isSafeInteger(id) && id > 0).to.equal(true);
    expect(Math.max(...ids)).to.be.above(2 ** 52);
    expect(idOf(1, 'a', 'b')).to.equal(idOf(1, 'a', 'b'));
    expect(idOf(1, 'a', 'b')).to.not.equal(idOf(1, 'ab', ''));
  });
});

describe('the signal alerts', () => {
  it('knows when each row may be dropped', () => {
    const record = alertsRange(told({}, { retentionDays: 0 }), 1).records[0];
    if (record === undefined) throw new Error('no record');
    const end = (FIRED + 14 * 86_400) * 1000;
    expect(alertsSignal.check(record)).to.equal(null);
    expect(alertsSignal.check({ ...record, count: 1 })?.reason).to.equal('rows');
    expect(alertsSignal.rowEnds(record, end - 1)).to.equal(null);
    expect(alertsSignal.rowEnds(record, end)).to.deep.equal([end, Infinity]);
  });
});

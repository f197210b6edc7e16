import { expect } from 'chai';
import { encodeHeaders, readChecked, readRecord } from '../../../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../../../pipeline/bus/records/signal-record.ts';
import { nanoseconds, seconds, uint16, uint32 } from '../../../pipeline/rows/fixed-types.ts';
import { Layout } from '../../../pipeline/rows/layout.ts';
import { rowsRecords } from '../../../pipeline/rows/rows-records.ts';
import { rowsHeaders, rowsSignal, tenantRowsSignal } from '../../../pipeline/rows/rows-signal.ts';
import { string } from '../../../pipeline/rows/string-types.ts';

const DAY = 86_400_000;
const AT = 1_795_003_200;

type Own = { readonly time: bigint };
const ownLayout = new Layout<Own>('trial_spans', [{ name: '_time', type: nanoseconds, member: 'time' }]);
const ownSignal = tenantRowsSignal(ownLayout, ({ time }, row) => Number(time(row) / 1_000_000_000n));

type Shared = { readonly tenantId: number; readonly retentionDays: number; readonly time: number; readonly text: string };
const sharedLayout = new Layout<Shared>('trial_rows', [
  { name: 'tenant_id', type: uint32, member: 'tenantId' },
  { name: 'retention_days', type: uint16, member: 'retentionDays' },
  { name: 'time', type: seconds, member: 'time' },
  { name: 'text', type: string, member: 'text' },
]);
const sharedSignal = rowsSignal(sharedLayout, ({ time }, row) => time(row) + 60);
const shared = (retentionDays: number, text = ''): Shared => ({ tenantId: 1, retentionDays, time: AT, text });

const rowsIn = (value: Buffer, count: number): Shared[] => sharedLayout.read(value, count) as Shared[];

const message = (value: Buffer, headers: ReturnType<typeof encodeHeaders>): Parameters<typeof readRecord>[2] => ({
  ...{ key: null, value, headers, timestamp: '1795000000000', attributes: 0, offset: '7' },
});

describe('a signal of rows of one tenant', () => {
  const info = { tenantId: 9, retentionDays: 7, count: 2, bytes: 10, encoding: 'columns' };
  const rows = [{ time: BigInt(AT) * 1_000_000_000n + 999_999_999n }, { time: BigInt(AT + 5) * 1_000_000_000n }];
  const read = (more: Partial<typeof info> = {}, value = ownLayout.encode(rows)): SignalRecord =>
    readChecked(ownSignal, 3, message(value, encodeHeaders(ownSignal, { ...info, ...more })));

  it('has tenant and class in its headers, as logs have', () => {
    expect(ownSignal).to.include({ name: 'trial_spans', version: 1 });
    expect(ownSignal.topic).to.include({ name: 'trial_spans.v1', partitions: 'configured', timestamps: 'append' });
    expect(read()).to.include({ fault: null, tenantId: 9, retentionDays: 7, count: 2, bytes: 10 });
    expect(read({ tenantId: 0 }).fault?.reason).to.equal('headers');
    expect(read({ count: 3 }).fault).to.deep.equal({
      reason: 'rows',
      detail: 'The record cannot be read: column _time ends before its last value.',
    });
    expect(read({ count: 0 }).fault?.reason).to.equal('rows');
    expect(read({ count: 0 }, Buffer.alloc(0)).fault, 'a request that only counts').to.equal(null);
  });

  it('knows when each row may be dropped: by its time and the class of its record', () => {
    const end = AT * 1000 + 7 * DAY;
    expect(ownSignal.rowEnds(read(), end - 1)).to.equal(null);
    expect(ownSignal.rowEnds(read(), end)).to.deep.equal([end, end + 5000]);
    expect(ownSignal.rowEnds(read({ retentionDays: 0 }), end), 'kept for ever').to.equal(null);
    expect(ownSignal.rowEnds(read({ count: 0 }, Buffer.alloc(0)), end)).to.equal(null);
  });
});

describe('a signal of rows of many tenants', () => {
  it('has them in each row, and knows when each may be dropped', () => {
    const value = sharedLayout.encode([shared(7), shared(0)]);
    const record = readChecked(sharedSignal, 3, message(value, rowsHeaders(sharedSignal, 2)));
    expect(record).to.include({ fault: null, tenantId: 0, retentionDays: 0, count: 2 });
    const end = (AT + 60) * 1000 + 7 * DAY;
    expect(sharedSignal.rowEnds(record, end - 1)).to.equal(null);
    expect(sharedSignal.rowEnds(record, end)).to.deep.equal([end, Infinity]);
    const { tenantId } = shared(7);
    expect(
      sharedSignal.rowEnds(record, 1000, (id) => (id === tenantId ? 1000 : null)),
      'a tenant that is deleted',
    ).to.deep.equal([1000, 1000]);
    expect(readRecord(sharedSignal, 3, message(value, { ...rowsHeaders(sharedSignal, 2), tenant: '1' })).fault?.reason).to.equal('headers');
  });

  it('is cut into records of about 256 KiB, each of which states its rows', () => {
    const rows = Array.from({ length: 5 }, (_none, row) => shared(row, 'x'.repeat(100_000)));
    const records = rowsRecords(sharedLayout, rows, ({ text }) => text.length, { partition: 4 });
    expect(records.map(({ headers }) => headers['count'])).to.deep.equal(['2', '2', '1']);
    expect(records[0]).to.include({ topic: 'trial_rows.v1', partition: 4, key: null });
    expect(records.flatMap(({ value, headers }) => rowsIn(value, Number(headers['count'])))).to.deep.equal(rows);
    const large = rowsRecords(sharedLayout, [shared(1, 'x'.repeat(300_000))], () => 300_000, { partition: 4 });
    expect(large, 'a row that is too large alone').to.have.length(1);
    const numbered = rowsRecords(sharedLayout, rows, () => 200_000, { partition: 4, shared: (record) => ({ retentionDays: record }) });
    expect(numbered.flatMap(({ value }) => rowsIn(value, 1)).map(({ retentionDays }) => retentionDays)).to.deep.equal([0, 1, 2, 3, 4]);
    expect(rowsRecords(sharedLayout, [], () => 1, { partition: 4 })).to.deep.equal([]);
  });
});

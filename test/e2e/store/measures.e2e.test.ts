import { expect } from 'chai';
import { pino } from 'pino';
import type { SignalRecord } from '../../../pipeline/bus/records/signal-record.ts';
import { measuresSink } from '../../../sinks/measures.ts';
import { storedPositions } from '../../../sinks/audit/stored.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { HOUR, measure, measuresRange, measuresRecord, NOW } from '../../fakes/measures-record.ts';
import { LogsqlStore } from '../logsql-store.ts';

describe('the table measures', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let writer: TableWriter;
  const rows = async (query: string): Promise<unknown> => own.store.ownerRows(query, {});
  before(async () => {
    own = await LogsqlStore.start();
    writer = new TableWriter({ sink: measuresSink, store: own.store, log: pino({ level: 'silent' }), mostRefused: 1, metrics: { stored: () => undefined } }); // prettier-ignore
  });
  after(() => own.stop());

  it('has each row as it was found', async () => {
    const measures = [
      measure(),
      measure({ tenantId: 2, labels: {}, retentionDays: 0, value: -1e300 }),
      measure({ span: 60, time: -2_208_988_800, value: 0.1 }),
    ];
    expect(await writer.store(measuresRange(measuresRecord([], 6), measuresRecord(measures, 7)), false)).to.deep.equal([]);
    expect(
      await rows(
        'SELECT tenant_id, retention_days, name, toString(labels), span, toString(reinterpretAsInt64(time)), value, toString(version), toString(kafka_off), kafka_idx FROM measures ORDER BY kafka_idx',
      ),
    ).to.deep.equal([
      [1, 14, 'distinct_users', "{'service':'web','zone':'é'}", 3600, String(HOUR), 12.5, '7', '7', 0],
      [2, 0, 'distinct_users', '{}', 3600, String(HOUR), -1e300, '7', '7', 1],
      [1, 14, 'distinct_users', "{'service':'web','zone':'é'}", 60, '-2208988800', 0.1, '7', '7', 2],
    ]);
  });

  it('takes each record once, whoever repeats it, and keeps what was told before', async () => {
    const count = async (offset: number): Promise<unknown> =>
      rows(`SELECT toString(count()), toString(uniqExact(kafka_idx)) FROM measures WHERE kafka_off = ${String(offset)}`);
    const record = (offset: number, more: Partial<SignalRecord> = {}): SignalRecord =>
      measuresRecord([measure(), measure({ tenantId: 2 })], offset, more);
    const whole = [['2', '2']];
    for (const again of [false, true, true]) expect(await writer.store(measuresRange(record(100), record(101)), again)).to.deep.equal([]);
    expect(await writer.store({ ...measuresRange(record(101), record(102)), inDoubt: NOW }, true), 'in doubt').to.deep.equal([]);
    expect(
      await writer.store(measuresRange(record(103, { replayOf: 50 }), record(104, { replayOf: 100 })), false),
      'replays',
    ).to.deep.equal([]);
    await writer.storeJointly('measures-1', [measuresRange(record(110)), measuresRange(record(111, { partition: 4 }))]);
    await rows('OPTIMIZE TABLE measures FINAL').catch(() => undefined);
    for (const offset of [50, 100, 101, 102, 110, 111]) expect(await count(offset), String(offset)).to.deep.equal(whole);
    expect(await writer.highest(3, 0, null)).to.equal(110);
    expect((await storedPositions(own.store, 'measures').between(3, 100, 110)).map(({ offset, rows: n }) => [offset, n])).to.deep.equal([[100, 2], [101, 2], [102, 2], [110, 2]]); // prettier-ignore
  });

  it('shows a tenant its own rows', async () => {
    const seen = async (tenant: number): Promise<unknown> =>
      (await fetch(`${own.config.url}/?database=${own.config.database}&log_comment=${String(tenant)}&query=${encodeURIComponent('SELECT DISTINCT tenant_id FROM measures ORDER BY tenant_id FORMAT TSV')}`, { headers: { 'X-ClickHouse-User': own.config.readerUser, 'X-ClickHouse-Key': own.config.readerPassword } })).text(); // prettier-ignore
    expect(await seen(1)).to.equal('1\n');
    expect(await seen(2)).to.equal('2\n');
    expect(await seen(0)).to.equal('');
  });
});

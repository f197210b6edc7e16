import { expect } from 'chai';
import { pino } from 'pino';
import type { SignalRecord } from '../../../pipeline/bus/records/signal-record.ts';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import { createVolume } from '../../../pipeline/processors/volume/volume.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { volumeSink } from '../../../sinks/volume.ts';
import { storedPositions } from '../../../sinks/audit/stored.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { counterRecord, volumeRow } from '../../fakes/counter-record.ts';
import { logRecord, rangeOf as logRange } from '../../fakes/log-record.ts';
import { batchOf, entriesValue, type PlainEntry } from '../../fakes/volume-rows.ts';
import { LogsqlStore } from '../logsql-store.ts';

const NOW = Date.now();
const MINUTE = 60_000_000_000n;

const rangeOf = (...records: readonly SignalRecord[]) => ({
  ...{
    topic: 'counters.v1',
    partition: records[0]?.partition ?? 3,
    start: records[0]?.offset ?? 0,
    end: records.at(-1)?.offset ?? 0,
    records,
  },
  rows: records.reduce((sum, { count }) => sum + count, 0),
});

const recordOf = ({ value, headers }: AbsoluteRecord, offset: number): SignalRecord =>
  counterRecord([], { value, offset, count: Number(headers['count']), timestamp: NOW });

describe('the table volume', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let writer: TableWriter;
  const rows = async (query: string): Promise<unknown> => own.store.ownerRows(query, {});
  before(async () => {
    own = await LogsqlStore.start();
    writer = writerOf(volumeSink);
  });
  after(() => own.stop());
  const writerOf = (sink: ConstructorParameters<typeof TableWriter>[0]['sink']): TableWriter =>
    new TableWriter({ sink, store: own.store, log: pino({ level: 'silent' }), mostRefused: 1, metrics: { stored: () => undefined } });

  it('has of each minute, hour and day what the entries themselves have, in number and bytes', async () => {
    const base = (BigInt(NOW) * 1_000_000n) / MINUTE;
    const entries = Array.from({ length: 500 }, (_, n): PlainEntry => ({
      time: (base - BigInt(n % 200)) * MINUTE + BigInt(n),
      stream: n % 3 === 0 ? 2n ** 64n - 1n : BigInt(n % 3),
      level: ['info', 'é', '', 'x'.repeat(300)][n % 4] ?? '',
      message: '☃'.repeat(n % 150),
      service: n % 2 === 0 ? 'web' : '',
      fields: n % 5 === 0 ? {} : { app: 'shop', größe: 'ü'.repeat(n % 7), host: '' },
    }));
    const old: PlainEntry[] = [1n, -1n, -2_208_988_800_000_000_000n, 2n ** 63n - 1n].map((time) => ({ time, stream: 9n }));
    const tenants = [entries, old];
    const logs = tenants.map(
      (list, offset) =>
      logRecord({ offset, partition: 3, tenantId: offset + 1, count: list.length, timestamp: NOW, encoding: 'columns', value: entriesValue(list) }), // prettier-ignore
    );
    expect(await writerOf(createLogsSink()).store(logRange(...logs), false)).to.deep.equal([]);
    const volume = createVolume();
    const state = volume.init();
    const outputs = [
      ...tenants.flatMap((list, offset) => volume.fold(state, batchOf(list, { offset, tenantId: offset + 1, retentionDays: 0 }))),
      ...volume.fold(state, { kind: 'tick', partition: 3, offset: 2, appendedAt: 86_400_000 }),
    ];
    expect(await writer.store(rangeOf(...outputs.map(recordOf)), false)).to.deep.equal([]);
    const size = "length(_msg) + length(level) + length(service) + length(trace_id) + length(span_id) + arraySum(arrayMap(x -> length(x), mapKeys(fields))) + arraySum(arrayMap(x -> length(x), mapValues(fields)))"; // prettier-ignore
    for (const span of [60, 3600, 86_400])
      for (const stream of ['stream_id', 'toUInt64(0)']) {
        const time = 'reinterpretAsInt64(_time)';
        const length = `toInt64(${String(span)}000000000)`;
        const begins = `toString((intDiv(${time}, ${length}) - (${time} < 0 AND ${time} % ${length} != 0)) * ${String(span)})`;
        const counted = await rows(
          `SELECT tenant_id, toString(${stream}) AS s, level, ${begins} AS t, toString(count()), toString(sum(${size})) FROM logs GROUP BY tenant_id, s, level, t ORDER BY tenant_id, s, level, t`,
        );
        const kept = await rows(
          `SELECT tenant_id, toString(stream_id) AS s, level, toString(reinterpretAsInt64(time)) AS t, toString(sum(entries)), toString(sum(bytes)) FROM volume WHERE span = ${String(span)} AND scope = ${stream === 'stream_id' ? '1' : '0'} GROUP BY tenant_id, s, level, t ORDER BY tenant_id, s, level, t`,
        );
        expect(kept, `${String(span)} ${stream}`).to.deep.equal(counted);
        expect(kept).to.be.an('array').with.length.above(2);
      }
    expect(await rows('SELECT DISTINCT log_part, toString(segment), toString(until), kafka_part FROM volume')).to.deep.equal([
      [3, '0', '2', 3],
    ]);
  });

  it('takes each record once, whoever repeats it', async () => {
    const count = async (offset: number): Promise<unknown> =>
      rows(`SELECT toString(count()), toString(uniqExact(kafka_idx)), toString(any(entries)) FROM volume WHERE kafka_off = ${String(offset)}`); // prettier-ignore
    const record = (offset: number, more: Partial<SignalRecord> = {}): SignalRecord =>
      counterRecord([volumeRow(), volumeRow({ tenantId: 2 }), volumeRow({ scope: 0, streamId: 0n })], { offset, timestamp: NOW, ...more }); // prettier-ignore
    const whole = [['3', '3', '3']];
    for (const again of [false, true, true]) expect(await writer.store(rangeOf(record(100), record(101)), again)).to.deep.equal([]);
    expect(await count(100)).to.deep.equal(whole);
    expect(await writer.store({ ...rangeOf(record(101), record(102)), inDoubt: NOW }, true), 'in doubt').to.deep.equal([]);
    for (const offset of [101, 102]) expect(await count(offset)).to.deep.equal(whole);
    expect(await writer.store(rangeOf(record(103, { replayOf: 50 }), record(104, { replayOf: 100 })), false), 'replays').to.deep.equal([]);
    for (const offset of [50, 100]) expect(await count(offset)).to.deep.equal(whole);
    await writer.storeJointly('vol-1', [rangeOf(record(110)), rangeOf(record(111, { partition: 4 }))]);
    expect(await count(111)).to.deep.equal(whole);
    expect(await writer.highest(3, 0, null)).to.equal(110);
    expect((await storedPositions(own.store, 'volume').between(3, 100, 110)).map(({ offset, rows: n }) => [offset, n])).to.deep.equal([[100, 3], [101, 3], [102, 3], [110, 3]]); // prettier-ignore
  });

  it('shows a tenant its own rows', async () => {
    const seen = async (tenant: number): Promise<unknown> =>
      (await fetch(`${own.config.url}/?database=${own.config.database}&log_comment=${String(tenant)}&query=${encodeURIComponent('SELECT DISTINCT tenant_id FROM volume ORDER BY tenant_id FORMAT TSV')}`, { headers: { 'X-ClickHouse-User': own.config.readerUser, 'X-ClickHouse-Key': own.config.readerPassword } })).text(); // prettier-ignore
    expect(await seen(1)).to.equal('1\n');
    expect(await seen(2)).to.equal('2\n');
    // how far is counted, which is nobody's
    expect(await seen(0)).to.equal('0\n');
  });
});

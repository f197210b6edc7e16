import { expect } from 'chai';
import { pino } from 'pino';
import type { LogRecord } from '../../../pipeline/logs/record.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { columnsValue, logRecord, rangeOf } from '../../fakes/log-record.ts';
import { LogsqlStore } from '../logsql-store.ts';

const DAYS = 20;
const DAY = 86_400_000;
/** Rows of one day in one retention class: records of 20 rows, in turns of two partitions whose offsets are far apart. */
const ROWS = 20_000;
const OFFSETS = ROWS / 20;
const RECORD_ROWS = 10;
const CLASSES = [30, 365];
/** Of 800,000 rows. Those of an hour are a granule or two of each tenant and class. */
const MOST_ROWS = 20 * 1024;
const END = Math.floor(Date.now() / 1000) * 1000;
const START = END - DAYS * DAY;

/** A ClickHouse that reads so many rows of the entries for one statement, and refuses to read more. */
class Bounded extends Store {
  override ownerRows(...[text, ...more]: Parameters<Store['ownerRows']>): ReturnType<Store['ownerRows']> {
    return super.ownerRows(text.includes('FROM logs') ? `${text} SETTINGS max_rows_to_read = ${String(MOST_ROWS)}` : text, ...more);
  }

  override insert(...[text, body, options]: Parameters<Store['insert']>): Promise<number> {
    return super.insert(text, body, { ...options, settings: { ...options.settings, max_rows_to_read: String(MOST_ROWS) } });
  }
}

describe('what a sink reads of a table of many days', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let bounded: Bounded;
  let writer: TableWriter;
  before(async () => {
    own = await LogsqlStore.start();
    for (const days of CLASSES)
      for (let day = 0; day < DAYS; day++)
        await own.store.command(
          `INSERT INTO logs (tenant_id, _time, arrived, kafka_part, kafka_off, kafka_idx, retention_days, stream_id, _msg)
           SELECT 1 + intDiv(number, 20) % 3, t, t, p, p * 5000000 + ${String(day * OFFSETS)} + intDiv(number, 20), intDiv(number % 20, 2), ${String(days)}, 5, 'm'
           FROM (SELECT number, number % 2 AS p, fromUnixTimestamp64Milli(toInt64(${String(START + day * DAY)} + intDiv(number, 20) * ${String(DAY / OFFSETS)}), 'UTC') AS t FROM numbers(${String(ROWS)}))`,
        );
    await own.store.command('OPTIMIZE TABLE logs FINAL');
    bounded = own.open(Bounded);
    const log = pino({ level: 'silent' });
    writer = new TableWriter({ sink: createLogsSink(), store: bounded, log, mostRefused: 1, metrics: { stored: () => undefined } });
  });
  after(async () => {
    await bounded.close();
    await own.stop();
  });

  const record = (offset: number, more: Partial<LogRecord> = {}): LogRecord => {
    const messages = Array.from({ length: RECORD_ROWS }, () => 'm');
    return logRecord({ ...{ offset, count: RECORD_ROWS, timestamp: END, encoding: 'columns', value: columnsValue(...messages) }, ...more });
  };
  const copies = async (offset: number): Promise<unknown> =>
    own.store.ownerRows('SELECT toString(count()), toString(uniqExact(kafka_idx)) FROM logs WHERE kafka_part = 0 AND kafka_off = {offset:UInt64}', { offset }); // prettier-ignore
  const whole = [[RECORD_ROWS, RECORD_ROWS].map(String)];
  const first = DAYS * OFFSETS;

  it('is what was appended when the range was, where a range is stored again', async () => {
    const range = { ...rangeOf(record(first), record(first + 1)), inDoubt: END };
    for (let twice = 0; twice < 2; twice++) {
      expect(await writer.store(range, true)).to.deep.equal([]);
      expect(await copies(first)).to.deep.equal(whole);
    }
    const wider = { ...rangeOf(record(first), record(first + 1), record(first + 2)), inDoubt: END };
    expect(await writer.store(wider, true), 'the rest of it').to.deep.equal([]);
    for (const offset of [first, first + 1, first + 2]) expect(await copies(offset)).to.deep.equal(whole);
  });

  it('is what was appended when the original was, where a record is replayed', async () => {
    const [day, within] = [5, 7];
    const original = day * OFFSETS + within;
    await own.store.command(`ALTER TABLE logs DELETE WHERE kafka_part = 0 AND kafka_off = ${String(original)} AND (kafka_idx > 3 OR retention_days = 30)`, { mutations_sync: '1' }); // prettier-ignore
    const timestamp = START + day * DAY + within * (DAY / OFFSETS);
    const range = rangeOf(record(first + 3), record(first + 4, { replayOf: original, timestamp }));
    for (const again of [false, true]) {
      expect(await writer.store(range, again)).to.deep.equal([]);
      for (const offset of [original, first + 3]) expect(await copies(offset)).to.deep.equal(whole);
    }
  });

  it('is what was appended lately, where the highest offset is asked for', async () => {
    const last = DAYS * OFFSETS - 1;
    const hours = END - 2 * 3_600_000;
    expect(await writer.highest(0, last, hours)).to.be.at.least(last);
    expect(await writer.highest(1, 5_000_000 + last - 1, hours)).to.equal(5_000_000 + last);
    expect(await writer.highest(1, 5_000_000 + last + 1, hours)).to.equal(-1);
    const refused = await writer.highest(0, last, null).catch((error: unknown) => String(error));
    expect(refused, 'without a bound').to.contain('Limit for rows');
  });
});

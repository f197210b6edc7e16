import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { startClickHouse, type ClickHouse } from '../../../compose/embedded/clickhouse.ts';
import type { Range } from '../../../pipeline/bus/consumer/range.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { migrate } from '../../../pipeline/store/migrations.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { columnsValue, logRecord, rangeOf, streamOf } from '../../fakes/log-record.ts';

const ROWS = 10;
const NOW = Date.now();
/** A server that is up for less may have been started again without anybody knowing: seconds. */
const OLD_ENOUGH = 11;

/** Counts what a writer asks of the rows that are stored. */
class Counting extends Store {
  lookUps = 0;

  override ownerRows(...[text, ...more]: Parameters<Store['ownerRows']>): ReturnType<Store['ownerRows']> {
    if (text.includes('FROM logs')) this.lookUps += 1;
    return super.ownerRows(text, ...more);
  }
}

const rangeAt = (offset: number, partition = 0, timestamp = NOW): Range =>
  rangeOf(
    logRecord({
      ...{ partition, offset, count: ROWS, timestamp, encoding: 'columns' },
      value: columnsValue(...Array.from({ length: ROWS }, () => 'm')),
    }),
  );

describe('a range whose token ClickHouse knows', function () {
  this.timeout(600_000);
  let folder: string;
  let engine: ClickHouse;
  let store: Counting;
  const writerOf = (own: Store): TableWriter =>
    new TableWriter({ sink: createLogsSink(), store: own, log: pino({ level: 'silent' }), mostRefused: 1, metrics: { stored: () => undefined } }); // prettier-ignore
  const open = (): Counting => {
    const { url, user, password, database, readerUser, readerPassword } = engine;
    return new Counting({ url, user, password, database, readerUser, readerPassword });
  };
  const copies = async (offset: number): Promise<unknown> =>
    (await store.ownerRows('SELECT kafka_part, toString(count()), toString(uniqExact(kafka_idx)) FROM logs WHERE kafka_off = {offset:UInt64} GROUP BY 1 ORDER BY 1', { offset })).map(([, ...counts]) => counts.join()); // prettier-ignore
  /** What restoring the table from a backup does: the tokens are known, and the rows are gone. */
  const lose = (): Promise<unknown> => store.command('ALTER TABLE logs DELETE WHERE 1', { mutations_sync: '1' });
  const isOld = async (): Promise<void> => {
    while (Number((await store.ownerRows('SELECT toUInt32(uptime())', {}))[0]?.[0]) < OLD_ENOUGH)
      await store.ownerRows('SELECT sleep(0.5)', {});
  };
  const whole = [`${String(ROWS)},${String(ROWS)}`];

  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-spent-'));
    engine = await startClickHouse({ dataDir: folder });
    store = open();
    await migrate(store);
  });
  after(async () => {
    await store.close();
    engine.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is once in the table where a process that does not know of it stores it again', async () => {
    await writerOf(store).store(rangeAt(10), false);
    expect(await writerOf(store).store(rangeAt(10), false)).to.deep.equal([]);
    expect(await copies(10)).to.deep.equal(whole);
  });

  it('is stored where the table has lost it, however often', async () => {
    await writerOf(store).store(rangeAt(20), false);
    for (let time = 0; time < 4; time++) {
      await lose();
      expect(await copies(20)).to.deep.equal([]);
      expect(await writerOf(store).store(rangeAt(20), time % 2 === 1)).to.deep.equal([]);
      expect(await copies(20), `the ${String(time + 1)}. time`).to.deep.equal(whole);
    }
  });

  it('is stored where the log has used its offsets for other records', async () => {
    await writerOf(store).store(rangeAt(30), false);
    const later = rangeAt(30, 0, NOW + 1000);
    expect(await writerOf(store).store(later, false)).to.deep.equal([]);
    expect(await copies(30)).to.deep.equal([`${String(2 * ROWS)},${String(ROWS)}`]);
  });

  it('is stored with others in one insert where the table has lost them, once each is on its own', async () => {
    const ranges = [rangeAt(40, 3), rangeAt(40, 4)];
    await writerOf(store).storeJointly('joint-1', ranges);
    expect(await copies(40)).to.deep.equal([...whole, ...whole]);
    // the same once more, as from a process that does not know of it
    await writerOf(store).storeJointly('joint-1', ranges);
    expect(await copies(40)).to.deep.equal([...whole, ...whole]);
    await lose();
    const failed = await writerOf(store)
      .storeJointly('joint-1', ranges)
      .catch((error: unknown) => String(error));
    expect(failed).to.contain('has not all rows of insert joint-1');
    for (const range of ranges) expect(await writerOf(store).store(range, true)).to.deep.equal([]);
    expect(await copies(40)).to.deep.equal([...whole, ...whole]);
  });

  it('has its streams in their table, also where that has lost what was written as the same block before', async () => {
    const streams = streamOf('77', '{app="web"}', Math.floor(NOW / 86_400_000));
    const range = (offset: number): Range => {
      const value = columnsValue(...Array.from({ length: ROWS }, () => 'm'));
      return rangeOf(logRecord({ ...{ partition: 0, offset, count: ROWS, timestamp: NOW, encoding: 'columns', streams, value } }));
    };
    const known = async (): Promise<number> =>
      Number((await store.ownerRows('SELECT toUInt32(count()) FROM streams FINAL WHERE stream_id = 77', {}))[0]?.[0]);
    await writerOf(store).store(range(45), false);
    expect(await known()).to.equal(1);
    await store.command('ALTER TABLE streams DELETE WHERE 1', { mutations_sync: '1' });
    await writerOf(store).store(range(46), false);
    expect(await known()).to.equal(1);
  });

  it('is once in the table where ClickHouse has forgotten the token', async () => {
    await writerOf(store).store(rangeAt(50), false);
    await store.command('ALTER TABLE logs MODIFY SETTING non_replicated_deduplication_window = 1');
    for (const offset of [51, 52, 53]) await writerOf(store).store(rangeAt(offset), false);
    expect(await writerOf(store).store(rangeAt(50), true)).to.deep.equal([]);
    expect(await copies(50)).to.deep.equal(whole);
    await store.command('ALTER TABLE logs RESET SETTING non_replicated_deduplication_window');
  });

  it('is not looked up where the token is new', async () => {
    await isOld();
    const writer = writerOf(store);
    await writer.store(rangeAt(1), false);
    const before = store.lookUps;
    for (const offset of [2, 3, 4]) expect(await writer.store(rangeAt(offset), false)).to.deep.equal([]);
    expect(store.lookUps).to.equal(before);
    expect(await copies(4)).to.deep.equal(whole);
  });

  it('is stored where the table has lost it, and ClickHouse was started again in between', async () => {
    const writer = writerOf(store);
    await writer.store(rangeAt(60), false);
    await lose();
    await store.close();
    engine.kill();
    engine = await startClickHouse({ dataDir: folder });
    store = open();
    expect(await writerOf(store).store(rangeAt(60), false)).to.deep.equal([]);
    expect(await copies(60)).to.deep.equal(whole);
  });
});

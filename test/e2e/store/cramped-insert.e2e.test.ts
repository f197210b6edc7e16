import { expect } from 'chai';
import { pino } from 'pino';
import { decodeMetadata } from '../../../pipeline/bus/reading/commit-metadata.ts';
import type { Range } from '../../../pipeline/bus/consumer/range.ts';
import type { LogRecord } from '../../../pipeline/logs/record.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { columnsValue, logRecord, rangeOf } from '../../fakes/log-record.ts';
import { loneReader } from '../../fakes/range-store.ts';
import { LogsqlStore } from '../logsql-store.ts';

const log = pino({ level: 'silent' });
const PARTITION = 9;
const RECORDS = 32;
const ROWS = 100;
/** Of a row in ClickHouse's memory, at least: the range has 52 MB. */
const ROW_BYTES = 16_384;
/** An insert takes some 32 MB whatever it has: buffers of each column and index. */
const MEMORY = 50_000_000;
const NOW = Date.now();

const value = columnsValue(...Array.from({ length: ROWS }, (_, row) => `${String(row)} ${'x'.repeat(ROW_BYTES)}`));
const record = (offset: number): LogRecord =>
  logRecord({
    ...{ partition: PARTITION, offset, count: ROWS, timestamp: NOW + offset, encoding: 'columns', value },
    original: { key: null, value, headers: {}, timestamp: String(NOW + offset) },
  });
const range = rangeOf(...Array.from({ length: RECORDS }, (_, offset) => record(offset)));

/** A ClickHouse that has so little memory for an insert of entries. */
class Cramped extends Store {
  readonly refused: string[] = [];

  override insert(...[text, body, options]: Parameters<Store['insert']>): Promise<number> {
    const settings = text.startsWith('INSERT INTO logs') ? { max_memory_usage: String(MEMORY) } : {};
    return super.insert(text, body, { ...options, settings: { ...options.settings, ...settings } }).catch((error: unknown) => {
      this.refused.push((error as { code: string }).code);
      throw error;
    });
  }
}

describe('a range that ClickHouse has not the memory for', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let cramped: Cramped;
  before(async () => {
    own = await LogsqlStore.start();
    cramped = own.open(Cramped);
  });
  after(async () => {
    await cramped.close();
    await own.stop();
  });

  const writerOf = (store: Store): TableWriter =>
    new TableWriter({ sink: createLogsSink(), store, log, mostRefused: 1, metrics: { stored: () => undefined } });
  /** Offsets, rows, and different ones, that are stored. */
  const stored = (): Promise<unknown> =>
    own.store.ownerRows(
      'SELECT toString(uniqExact(kafka_off)), toString(count()), toString(uniqExact(kafka_off, kafka_idx, arrived, _msg)) FROM logs WHERE kafka_part = {part:UInt16}',
      { part: PARTITION },
    );

  it('is stored once in smaller ones, and an insert of the whole writes nothing any more', async () => {
    const commits: { readonly offset: number; readonly end: number | undefined }[] = [];
    let current = true;
    const done = new Promise<void>((resolve, reject) => {
      const reader = loneReader({
        ...{ topic: 'logs.v1', partition: PARTITION, log, deadLetterLimit: 1, store: storeOf(writerOf(cramped)) },
        progress: decodeMetadata(0, ''),
        limits: { rows: RECORDS * ROWS, bytes: 1e9, waits: [{ ms: 0, rows: RECORDS * ROWS }] },
        deadLetter: () => Promise.reject(new Error('no record is a dead letter')),
        commit: (offset, metadata) => {
          commits.push({ offset, end: decodeMetadata(offset, metadata).intent?.end });
          if (offset === RECORDS) resolve();
          return Promise.resolve();
        },
        onHalt: (why) => {
          if (why !== null) reject(new Error(why));
        },
        onCapacity: () => undefined,
        isCurrent: () => current,
      });
      for (const one of range.records) reader.add(one);
      reader.start();
    });
    await done;
    current = false;
    expect(cramped.refused).to.include('241');
    expect(commits[0], 'the whole is begun').to.deep.equal({ offset: 0, end: RECORDS - 1 });
    expect(commits.length).to.be.above(4);
    const once = [[RECORDS, RECORDS * ROWS, RECORDS * ROWS].map(String)];
    expect(await stored()).to.deep.equal(once);

    // of a process that stood still, as it was first sent: nothing is looked up
    const name = `logs-logs.v1-${String(PARTITION)}-0-${String(RECORDS - 1)}`;
    const { text, body, settings } = createLogsSink().insert(range, { fence: name });
    const written = await own.store
      .insert(text, body, {
        queryId: `${name}-late`,
        settings: { ...settings, async_insert: 0, insert_deduplication_token: `logs.v1:${String(PARTITION)}:0-${String(RECORDS - 1)}` },
      })
      .catch((error: unknown) => {
        // ClickHouse may be done before it has read all of the body, and then ends the connection
        if (/EPIPE|ECONNRESET/.test(String(error))) return 0;
        throw error;
      });
    expect(written).to.equal(0);
    expect(await stored()).to.deep.equal(once);
    expect(await writerOf(own.store).store(range, true), 'repeated by another process').to.deep.equal([]);
    expect(await stored()).to.deep.equal(once);
  });
});

const storeOf = (writer: TableWriter): { store: TableWriter['store']; highest: TableWriter['highest'] } => ({
  store: (one: Range, again) => writer.store(one, again),
  highest: (...asked) => writer.highest(...asked),
});

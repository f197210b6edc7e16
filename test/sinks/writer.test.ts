import { expect } from 'chai';
import { pino } from 'pino';
import type { Range } from '../../pipeline/bus/range.ts';
import type { LogRecord } from '../../pipeline/logs/record.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { readInsert, type InsertedRow } from '../fakes/inserted-rows.ts';
import { logRecord, rangeOf, streamOf } from '../fakes/log-record.ts';
import { createLogsSink } from '../../sinks/logs.ts';
import { TableWriter } from '../../sinks/writer.ts';

const ARRIVED = '1795000000000';

const record = (offset: number, count: number): LogRecord =>
  logRecord({
    offset,
    count,
    streams: count === 0 ? new Map() : streamOf('5', '{}', 20_777),
    timestamp: Number(ARRIVED),
  });

/** A store that writes what it is given, and finds these rows when it is asked. */
class FakeStore {
  readonly inserts: { text: string; rows: readonly InsertedRow[]; token: unknown }[] = [];
  found: [string, string, string, string][] = [];

  insert(text: string, body: readonly Buffer[], { settings }: { settings: Record<string, unknown> }): Promise<number> {
    const rows = settings['decompress'] === 1 ? readInsert(body).rows : [];
    this.inserts.push({ text, rows, token: settings['insert_deduplication_token'] });
    return Promise.resolve(rows.length);
  }

  ownerRows(sql: string): Promise<string[][]> {
    return Promise.resolve(sql.includes('system.processes') ? [['0']] : this.found);
  }
}

describe('table writer', () => {
  const write = async (store: FakeStore, ranges: readonly Range[], again = false): Promise<FakeStore['inserts']> => {
    const sink = createLogsSink();
    const metrics = { stored: () => undefined };
    const writer = new TableWriter({ sink, store: store as unknown as Store, log: pino({ level: 'silent' }), metrics, mostRefused: 10 });
    for (const each of ranges) await writer.store(each, again);
    return store.inserts.filter(({ text }) => text.startsWith('INSERT INTO logs'));
  };

  it('passes over records without rows, and keeps the boundaries of the range', async () => {
    const [insert, ...more] = await write(new FakeStore(), [rangeOf(record(4, 0), record(5, 2), record(6, 0), record(7, 1), record(8, 0))]);
    expect(more).to.deep.equal([]);
    expect(insert?.rows.map((row) => [row['kafka_off'], row['kafka_idx']])).to.deep.equal([
      [5, 0],
      [5, 1],
      [7, 0],
    ]);
    expect(insert?.token).to.equal('logs.v1:0:4-8');
  });

  it('inserts nothing where no record has rows', async () => {
    const store = new FakeStore();
    await write(store, [rangeOf(record(4, 0), record(5, 0))]);
    await write(store, [rangeOf(record(4, 0))], true);
    expect(store.inserts).to.deep.equal([]);
  });

  it('finds a range stored whose records have rows, though others have none', async () => {
    const store = new FakeStore();
    store.found = [['5', ARRIVED, '2', '2']];
    expect(await write(store, [rangeOf(record(4, 0), record(5, 2))], true)).to.deep.equal([]);
    store.found = [['5', ARRIVED, '1', '1']];
    expect(await write(store, [rangeOf(record(4, 0), record(5, 2))], true)).to.have.length(1);
  });
});

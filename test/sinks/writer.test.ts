import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import { pino } from 'pino';
import type { Range, Stored } from '../../pipeline/bus/consumer/range.ts';
import type { LogRecord } from '../../pipeline/logs/record.ts';
import { appendedAt } from '../../pipeline/bus/records/record.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { readInsert, type InsertedRow } from '../fakes/inserted-rows.ts';
import { RecordStreams } from '../../pipeline/logs/record-streams.ts';
import { logRecord, rangeOf, streamOf } from '../fakes/log-record.ts';
import { createLogsSink } from '../../sinks/logs.ts';
import { TableWriter } from '../../sinks/writer.ts';

const ARRIVED = '1795000000000';

const record = (offset: number, count: number): LogRecord =>
  logRecord({
    offset,
    count,
    streams: count === 0 ? RecordStreams.none : streamOf('5', '{}', 20_777),
    timestamp: Number(ARRIVED),
  });

/** A store that writes what it is given, and finds these rows when it is asked. */
class FakeStore {
  readonly inserts: { text: string; rows: readonly InsertedRow[]; token: unknown }[] = [];
  found: [string, string, string, string][] = [];
  engine = 'MergeTree';
  readonly fences: string[] = [];
  /** Rows of one insert, at most. */
  memory = Infinity;
  /** Blocks that it says it has dropped, and inserts that it drops. */
  dropped = 0;
  drops = 0;

  insert(text: string, body: readonly Buffer[], { settings }: { settings: Record<string, unknown> }): Promise<number> {
    if (text.startsWith('INSERT INTO insert_fences')) this.fences.push((JSON.parse(String(body[0])) as { id: string }).id);
    const rows = settings['decompress'] === 1 ? readInsert(body).rows : [];
    this.inserts.push({ text, rows, token: settings['insert_deduplication_token'] });
    if (rows.length > this.memory)
      return Promise.reject(new ClickHouseError({ message: 'no', code: '241', type: 'MEMORY_LIMIT_EXCEEDED' }));
    if (rows.length > 0 && this.drops > 0) {
      this.drops -= 1;
      this.dropped += 1;
    } else if (rows.length > 0) this.found.push(...this.stores);
    return Promise.resolve(rows.length);
  }
  /** Rows that an insert adds to those that are found. */
  stores: [string, string, string, string][] = [];

  ownerRows(sql: string): Promise<string[][]> {
    if (sql.includes('system.tables')) return Promise.resolve([[this.engine]]);
    if (sql.includes('system.events')) return Promise.resolve([['server', '1000', String(this.dropped)]]);
    if (sql.includes('insert_fences')) return Promise.resolve([[String(this.fences.length)]]);
    return Promise.resolve(sql.includes('system.processes') ? [['0']] : this.found);
  }
}

describe('table writer', () => {
  const writerOf = (store: FakeStore): TableWriter => {
    const [sink, metrics] = [createLogsSink(), { stored: () => undefined }];
    return new TableWriter({ sink, store: store as unknown as Store, log: pino({ level: 'silent' }), metrics, mostRefused: 10 });
  };
  const write = async (store: FakeStore, ranges: readonly Range[], again = false): Promise<FakeStore['inserts']> => {
    const writer = writerOf(store);
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

  it('tells of each range whether it could be stored', async () => {
    const outcomes: unknown[] = [];
    const store = Object.assign(new FakeStore(), { memory: 1 });
    const metrics = { stored: () => undefined, outcome: (table: string, error: unknown) => outcomes.push([table, error === null ? null : (error as ClickHouseError).code]) }; // prettier-ignore
    const writer = new TableWriter({ sink: createLogsSink(), store: store as unknown as Store, log: pino({ level: 'silent' }), metrics, mostRefused: 10 }); // prettier-ignore
    await writer.store(rangeOf(record(5, 2)), false).catch(() => undefined);
    store.memory = Infinity;
    await writer.store(rangeOf(record(5, 2)), false);
    expect(outcomes).to.deep.equal([
      ['logs', '241'],
      ['logs', null],
    ]);
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

  it('takes no insert for stored that ClickHouse has dropped, and none for dropped whose rows are there', async () => {
    const stored: [string, string, string, string] = ['5', ARRIVED, '2', '2'];
    const range = rangeOf(record(5, 2));
    const lost = Object.assign(new FakeStore(), { drops: 2, stores: [stored] });
    const tokens = (await write(lost, [range])).map(({ token }) => token);
    const [first, second] = ['logs.v1:0:5-5', `logs.v1:0:5-5@${String(appendedAt(range.records[0]))}`];
    expect(tokens).to.deep.equal([first, second, `${second}#1`]);
    const there = Object.assign(new FakeStore(), { drops: 1, found: [stored] });
    expect((await write(there, [range])).map(({ token }) => token)).to.deep.equal([first]);
    const never = Object.assign(new FakeStore(), { drops: Infinity });
    expect(String(await write(never, [range]).catch((error: unknown) => error))).to.contain('wrote 2 of 2 rows');
  });

  describe('where ClickHouse has not the memory for a range', () => {
    const cramped = (more: Partial<FakeStore> = {}): FakeStore => Object.assign(new FakeStore(), { memory: 2, ...more });
    const stored = (store: FakeStore, range: Range): Promise<Stored | ClickHouseError> =>
      writerOf(store)
        .store(range, false)
        .catch((error: unknown) => error as ClickHouseError);

    it('says so once no insert of the range can begin any more', async () => {
      const store = cramped();
      expect(await stored(store, rangeOf(record(4, 2), record(5, 1)))).to.equal('too large');
      expect(store.fences).to.deep.equal(['logs-logs.v1-0-4-5']);
    });

    it("fails where the range has one offset, or the table has replicas, which do not see each other's fences", async () => {
      for (const [store, range] of [
        [cramped(), rangeOf(record(4, 3))],
        [cramped({ engine: 'ReplicatedMergeTree' }), rangeOf(record(4, 2), record(5, 1))],
      ] as const) {
        expect(await stored(store, range)).to.have.property('code', '241');
        expect(store.fences).to.deep.equal([]);
      }
    });
  });
});

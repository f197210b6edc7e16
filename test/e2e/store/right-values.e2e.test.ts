import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import { runQuery } from '../../../api/query/run.ts';
import { StreamDirectory } from '../../../api/query/streams.ts';
import { textOf, type LogEntry } from '../../../pipeline/core/entry.ts';
import { extent } from '../../extent.ts';
import { ENTRIES, FILTERS, PIPES } from '../../logsql/exact.ts';
import { TABLES } from '../../logsql/right-values.ts';
import { EVERYTHING, parse, plainOf } from '../../logsql/support.ts';
import { LogsqlStore } from '../logsql-store.ts';

/** Every kind of query comes again and again, in cycles whose lengths this does not divide. */
const STEP = extent(11, 1);
const sampled = <Item>(items: readonly Item[]): readonly Item[] =>
  items.length < 100 ? items : items.filter((_item, index) => index % STEP === 0);

describe('right values, in ClickHouse', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let streams: StreamDirectory;
  let tenants = 100;
  before(async () => {
    own = await LogsqlStore.start();
    streams = new StreamDirectory(own.store);
  });
  after(() => own.stop());

  /** Entries of a tenant, the newest first, and what runs queries over them. */
  async function over(entries: readonly LogEntry[]): Promise<(query: string) => Promise<LogEntry[]>> {
    const tenantId = (tenants += 1);
    await own.insert(tenantId, [...entries].reverse());
    const plan = { table: LOGS, tenantId, start: EVERYTHING.start, end: EVERYTHING.end, widest: EVERYTHING };
    return (query) =>
      runQuery(
        parse(query),
        { ...plan, memory: EVERYTHING.memory },
        { store: own.store, streams, options: { tenantId, timeoutMs: 30_000 } },
        10_000,
      );
  }

  for (const { name, entries, cases } of TABLES) {
    it(name, async () => {
      const run = await over(entries);
      for (const [query, ...rows] of sampled(cases)) expect((await run(query)).map(plainOf), query).to.deep.equal(rows);
    });
  }

  it('numbers of which several are one float', async () => {
    const run = await over(ENTRIES);
    for (const { query, rows } of sampled(FILTERS)) {
      const found = (await run(query)).map((row) => textOf(row.get('n')));
      expect(found.sort(), query).to.deep.equal([...rows].sort());
    }
    for (const { query, rows } of sampled(PIPES)) {
      const found = (await run(query)).map((row) => Object.fromEntries([...row].map(([name, value]) => [name, textOf(value)])));
      expect(found, query).to.deep.equal(rows);
    }
  });
});

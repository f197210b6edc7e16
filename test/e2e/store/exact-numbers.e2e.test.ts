import { expect } from 'chai';
import { runQuery } from '../../../api/query/run.ts';
import { StreamDirectory } from '../../../api/query/streams.ts';
import { textOf, type LogEntry } from '../../../pipeline/core/entry.ts';
import { extent } from '../../extent.ts';
import { ENTRIES, FILTERS, PIPES } from '../../logsql/exact.ts';
import { EVERYTHING, parse } from '../../logsql/support.ts';
import { LogsqlStore } from '../logsql-store.ts';

const TENANT = 100;
/** Of ten filters and seven pipes for each number: every kind, at other numbers. */
const STEP = extent(9, 1);
const sampled = <Item>(items: readonly Item[]): readonly Item[] => items.filter((_item, index) => index % STEP === 0);

describe('numbers of which several are one float, in ClickHouse', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let streams: StreamDirectory;
  before(async () => {
    own = await LogsqlStore.start();
    streams = new StreamDirectory(own.store);
    await own.insert(TENANT, [...ENTRIES].reverse());
  });
  after(() => own.stop());

  const run = async (query: string): Promise<LogEntry[]> => {
    const plan = { tenantId: TENANT, start: EVERYTHING.start, end: EVERYTHING.end, widest: EVERYTHING, memory: EVERYTHING.memory };
    return runQuery(parse(query), plan, { store: own.store, streams, options: { tenantId: TENANT, timeoutMs: 30_000 } }, 10_000);
  };

  it('are matched exactly', async () => {
    for (const { query, rows } of sampled(FILTERS)) {
      const found = (await run(query)).map((row) => textOf(row.get('n')));
      expect(found.sort(), query).to.deep.equal([...rows].sort());
    }
  });

  it('are sorted and chosen from exactly', async () => {
    for (const { query, rows } of sampled(PIPES)) {
      const found = await run(query);
      expect(
        found.map((row) => Object.fromEntries([...row].map(([name, value]) => [name, textOf(value)]))),
        query,
      ).to.deep.equal(rows);
    }
  });
});

import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import fc from 'fast-check';
import { runQuery } from '../../../api/query/run.ts';
import { StreamDirectory } from '../../../api/query/streams.ts';
import { evaluate } from '../../../logsql/evaluation/pipeline.ts';
import type { LogEntry } from '../../../pipeline/core/entry.ts';
import { extent } from '../../extent.ts';
import { EVERYTHING, memoryFor, parse, planOf, plainOf } from '../../logsql/support.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { at } from '../query-setup.ts';

const ENTRIES = 900;

describe('stream_context in ClickHouse', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  const entries: LogEntry[] = [];
  before(async () => {
    own = await LogsqlStore.start();
    // streams of different density, some entries of one time, and gaps of hours
    for (let n = 0; n < ENTRIES; n += 1)
      entries.push(
        at(Math.floor(n / 3) * 7 + (n > 600 ? 9000 : 0), {
          _stream: `{s="${String(n % 11 === 0 ? 2 : n % 2)}"}`,
          n: String(n),
          _msg: n % 97 === 5 ? 'boom' : 'm',
        }),
      );
    await own.insert(1, entries);
  });
  after(() => own.stop());

  const options = { table: LOGS, tenantId: 1, start: EVERYTHING.start, end: EVERYTHING.end, widest: EVERYTHING };
  async function check(query: string): Promise<void> {
    const runner = { store: own.store, streams: new StreamDirectory(own.store), options: { tenantId: 1, timeoutMs: 30_000 } };
    const expected = await evaluate(parse(query), entries.toReversed(), EVERYTHING);
    const found = await runQuery(parse(query), { ...options, memory: memoryFor() }, runner);
    expect(found.map(plainOf), query).to.deep.equal(expected.map(plainOf));
  }

  it('gives what memory gives', async () => {
    for (const query of [
      'boom | stream_context before 2 after 3',
      'boom | stream_context before 0 after 1',
      'boom | stream_context before 40 after 40',
      'boom | stream_context before 1000 after 1000',
      'boom | stream_context after 5 time_window 10s',
      'boom | stream_context before 5 time_window 0s',
      'n:=0 | stream_context before 3 after 3',
      'n:=899 | stream_context before 3 after 3 | fields n, _msg',
      'n:in(5, 6, 7, 8, 12, 13) | stream_context before 1 after 1',
      'nosuch | stream_context before 3',
      'boom n:<200 | stream_context before 4 after 4 | stats count() c',
      // too many to be asked for one by one
      'n:<300 | stream_context before 1 after 1',
    ])
      await check(query);
  });

  it('gives what memory gives, for any matches', async () => {
    const numbers = fc.uniqueArray(fc.nat(ENTRIES - 1), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        numbers,
        fc.nat(6),
        fc.nat(6),
        fc.constantFrom('', ' time_window 1m', ' time_window 10s'),
        async (list, before, after, window) =>
          check(`n:in(${list.join(', ')}) | stream_context before ${String(before)} after ${String(after)}${window}`),
      ),
      { numRuns: extent(15, 100), seed: 11 },
    );
  });

  it('reads whole streams where it cannot be asked for, and holds other filters against all', async () => {
    expect(planOf('boom | stream_context before 1').kind).to.equal('gather');
    expect(planOf('boom | stream_context before 1', { extra: parse('n:1').filter }).kind).to.equal('expand');
    expect(planOf('boom n:value_type(string) | stream_context before 1').kind).to.equal('expand');
    await check('boom n:value_type(uint16) | stream_context before 1');
  });
});

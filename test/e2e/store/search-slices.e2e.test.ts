import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import { rows, texts } from '../../../api/query/rows.ts';
import type { Runner } from '../../../api/query/runner.ts';
import { prepare } from '../../../api/query/run.ts';
import { StreamDirectory } from '../../../api/query/streams.ts';
import { QueryMemory } from '../../../logsql/base/memory.ts';
import { parseQuery } from '../../../logsql/parser/parser.ts';
import { evaluate } from '../../../logsql/evaluation/pipeline.ts';
import { renderEntry, type LogEntry } from '../../../pipeline/core/entry.ts';
import { renderSql, type Sql } from '../../../pipeline/core/sql.ts';
import type { QueryOptions } from '../../../pipeline/store/client.ts';
import { ALWAYS, comparable } from '../../equal/compare.ts';
import { NOW, nanoseconds } from '../../logsql/support.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { at } from '../query-setup.ts';

const TENANT = 7;
const MEMORY = { maxRows: 100_000, maxBytes: 100_000_000 };
/** `took` is a plain number, but for the entries in the middle, of which some are sizes, times and texts. */
const OTHERS = ['1.5s', '12KiB', 'long', '0x1f', '1_0', 'inf', '10.0.0.1', '-'];
const tookAt = (index: number): string => (index >= 150 && index < 190 ? (OTHERS[index % OTHERS.length] ?? '') : String(index % 50));
const ENTRIES: readonly LogEntry[] = Array.from({ length: 300 }, (_none, index) =>
  at(index >> 1, { took: tookAt(index), _msg: index % 7 === 0 ? 'the needle' : 'hay', n: String(index) }),
);

describe('a search that looks at all entries', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
    await own.insert(TENANT, ENTRIES);
  });
  after(() => own.stop());

  /** What the statements were, and the entries, as JSON texts or as rows. */
  async function run(text: string, limit: number, asTexts: boolean) {
    const asked: QueryOptions['settings'][] = [];
    const noted =
      <Rows>(ask: (statement: Sql, options: QueryOptions) => Rows) =>
      (statement: Sql, options: QueryOptions) => {
        if (renderSql(statement).text.includes('FROM logs')) asked.push(options.settings);
        return ask(statement, options);
      };
    const store = Object.create(own.store) as typeof own.store;
    store.query = noted((statement, options) => own.store.query(statement, options));
    store.texts = (statement, options) => own.store.texts(statement, options);
    const runner: Runner = {
      store,
      streams: new StreamDirectory(own.store),
      densities: { rowsIn: () => 256_000, saw: () => undefined },
      options: { tenantId: TENANT, timeoutMs: 30_000 },
    };
    const [start, end] = [nanoseconds('2026-11-18T10:00:00Z'), nanoseconds('2026-11-18T10:02:30Z')];
    const memory = new QueryMemory(MEMORY);
    const query = parseQuery(text, { now: NOW });
    const prepared = await prepare(query, { table: LOGS, tenantId: TENANT, start, end, widest: ALWAYS, memory }, runner);
    const wanted = { limit };
    const found: string[] = [];
    if (asTexts) for await (const chunk of texts(prepared.plan, runner, wanted) ?? []) found.push(...chunk.rows);
    else for await (const chunk of rows(prepared, runner, wanted)) found.push(...chunk.rows.map(comparable));
    const all = await evaluate(query, ENTRIES.toReversed(), { memory: new QueryMemory(MEMORY), start, end });
    const expected = all.slice(0, limit).map(asTexts ? renderEntry : comparable);
    return { asked, found, expected };
  }

  const QUERIES = [
    'needle*',
    'took:>20',
    'took:range[5, 9) hay*',
    '!took:<=40',
    'took:>=0 or ~"nee.le"',
    'took:>1KiB',
    'took:[0, 1) | filter n:>100',
  ];
  for (const text of QUERIES)
    for (const limit of [1, 10, 43, 1000])
      it(`${text}, ${String(limit)} at most: gives the newest that match, whatever it takes`, async () => {
        for (const asTexts of text.includes('|') ? [false] : [true, false]) {
          const { found, expected } = await run(text, limit, asTexts);
          expect(found).to.deep.equal(expected);
        }
      });

  it('stops in the newest slice where that has enough, and reads what is left without the order where few match', async () => {
    const dense = await run('hay* took:>=0', 5, false);
    expect(dense.found).to.deep.equal(dense.expected);
    expect(dense.asked).to.have.length(1);
    const rare = await run('needle* n:[7, 7]', 5, false);
    expect(rare.found).to.deep.equal(rare.expected).and.have.length(1);
    expect(rare.asked.map((settings) => settings?.['optimize_read_in_order'])).to.deep.equal([undefined, 0]);
  });
});

import { LOGS } from '../../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import { runQuery } from '../../../../api/query/run.ts';
import { StreamDirectory } from '../../../../api/query/streams.ts';
import { evaluate } from '../../../../logsql/evaluation/pipeline.ts';
import { textOf, type LogEntry } from '../../../../pipeline/core/entry.ts';
import { EVERYTHING, memoryFor, parse, planOf } from '../../../logsql/support.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { at } from '../../query-setup.ts';
import { isWhole } from '../../../extent.ts';

/** Values of a field, some of which are equal to others in their order. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  numbers: ['5', '10', '-3', '1.5', '1.50', '0', '-0', '1e3', '1000', '00007', '7', '0.1', '1_000', '9007199254740991', '123456'],
  large: ['9007199254740993', '9007199254740992', '18446744073709551615', '12', '99999999999999999999', '-9223372036854775808'],
  units: ['5ms', '1s', '2h', '1500µs', '1m30s', '700B', '3MiB', '1KB', '1024', '1KiB', '-5m', '300', '0x1f', '31'],
  texts: [
    'web',
    'api',
    'Web',
    'web-1',
    'web-10',
    'web-2',
    'web-01',
    'web-1a',
    'v1.9.0',
    'v1.10.0',
    'v1.10',
    'ü',
    'z',
    '𝒜',
    '﷐',
    'a b',
    'a',
    'web-0',
    'web-00',
  ],
  times: ['2026-11-18T10:00:00Z', '2026-11-18T10:00:00.5Z', '2026-11-18T12:00:00+02:00', '2026-11-17', '2026-11-18 10:00:01'],
  mixture: ['', 'web-3', '5', '', '12', 'api', '-1', '3.5', 'x9', 'x10', ''],
  raw: ['a\u0001b', 'a\u0000', 'ab', `x${'9'.repeat(300)}`, `x${'1'.repeat(251)}`, 'x5', 'a\n1', 'a\t1'],
  empty: ['', '', ''],
};
const COPIES = 3;

describe('sorts with a limit in ClickHouse', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  const entries: LogEntry[] = [];
  before(async () => {
    own = await LogsqlStore.start();
    for (const [kind, values] of Object.entries(KINDS))
      for (let copy = 0; copy < COPIES; copy += 1)
        for (const value of values)
          entries.push(at(entries.length / 3, { kind, n: String(entries.length), ...(value === '' ? {} : { v: value }) }));
    await own.insert(1, entries);
  });
  after(() => own.stop());

  const ids = (rows: readonly LogEntry[]): string[] => rows.map((row) => `${textOf(row.get('n'))} ${textOf(row.get('v'))}`);
  async function check(query: string): Promise<void> {
    expect(planOf(query).kind, query).to.equal('gather');
    const options = { table: LOGS, tenantId: 1, start: EVERYTHING.start, end: EVERYTHING.end, widest: EVERYTHING, memory: memoryFor() };
    const runner = { store: own.store, streams: new StreamDirectory(own.store), options: { tenantId: 1, timeoutMs: 30_000 } };
    const expected = await evaluate(parse(query), entries.toReversed(), EVERYTHING);
    expect(ids(await runQuery(parse(query), options, runner)), query).to.deep.equal(ids(expected));
  }

  for (const kind of Object.keys(KINDS))
    it(`give what a sort of all entries gives: ${kind}`, async () => {
      for (const order of ['', ' desc'])
        for (const limit of isWhole ? [1, 2, 5, 20, 100] : [2, 100])
          await check(`kind:=${kind} | sort by (v${order}) limit ${String(limit)}`);
      await check(`kind:=${kind} | sort by (v) desc offset 3 limit 4 rank as r`);
    });

  it('go on with what follows', async () => {
    await check('kind:=numbers | sort by (v desc) limit 5 | fields n, v | filter v:>10');
    await check('kind:=texts | first 4 by (v) | stats count() n');
    await check('kind:=nosuch | sort by (v) limit 5');
    await check('* | sort by (kind) limit 7');
    await check('* | sort by (_msg) limit 3');
    await check('* | last 3 by (nosuch)');
  });

  it('give by several fields what a sort of all entries gives', async () => {
    for (const query of [
      'sort by (kind, v) limit 20',
      'sort by (v desc, kind) offset 2 limit 9 rank as r',
      'sort by (kind desc, _time) limit 5',
    ])
      await check(`* | ${query}`);
  });

  it('are left to memory where ClickHouse has not the order', () => {
    for (const query of [
      '* | sort by (v)',
      '* | sort by (v, n) limit 1001',
      '* | sort by (_stream) limit 3',
      '* | sort by (v) limit 100000',
    ])
      expect(planOf(query).kind, query).to.equal('reshaped');
    expect(planOf('* | sort by (v) partition by (n) limit 3').kind).to.equal('reshaped');
  });
});

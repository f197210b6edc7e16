import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Store } from '../../../../pipeline/store/client.ts';
import { migrate } from '../../../../pipeline/store/migrations.ts';
import { extent } from '../../../extent.ts';
import { until } from '../../instance.ts';
import { LogsqlStore } from '../../logsql-store.ts';

const SCHEMA = path.resolve(import.meta.dirname, '../../../../pipeline/store/schema');
const NUMBERS = readdirSync(SCHEMA).map((name) => Number(name.slice(0, 3))).sort((a, b) => a - b); // prettier-ignore
const LAST = Math.max(...NUMBERS);
const ROWS = 3;

/** What each release has left in ClickHouse is what this one begins with (docs/operations.md). */
describe('the tables of an earlier release', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let today: readonly (readonly unknown[])[];
  const openTables = (database: string): Store => new Store({ ...own.config, database });

  before(async () => {
    own = await LogsqlStore.start();
    today = await layoutOf(own.store);
  });
  after(() => own.stop());

  const earlier = NUMBERS.filter((one) => one < LAST);
  // what begins with an earlier one goes through all later ones: a sample has each change too
  for (const number of earlier.filter((one, place) => one === earlier.at(-1) || place % extent(3, 1) === 0))
    it(`of schema ${String(number)} become those of today, and keep their rows`, async () => {
      const store = openTables(`schema_${String(number)}`);
      try {
        await migrate(store, number);
        const before = await fill(store);
        expect(await migrate(store)).to.deep.equal(NUMBERS.filter((one) => one > number));
        const mutations = 'SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done';
        await until('the parts of before', async () => Number((await store.ownerRows(mutations))[0]?.[0]), (left) => left === 0); // prettier-ignore
        expect(await layoutOf(store)).to.deep.equal(today);
        expect(Object.fromEntries(await countsOf(store, [...before.keys()]))).to.deep.equal(Object.fromEntries(before));
        // and they take what this version writes
        await fill(store);
        expect(await migrate(store)).to.deep.equal([]);
        await store.command(`DROP DATABASE ${store.database}`);
      } finally {
        await store.close();
      }
    });
});

const TABLES = "database = currentDatabase() AND name != 'migrations'";

/** Every column of every table, and how each table is stored. */
const layoutOf = (store: Store): Promise<readonly (readonly unknown[])[]> =>
  store.ownerRows(
    `SELECT name, replaceAll(create_table_query, concat(currentDatabase(), '.'), '') AS statement FROM system.tables WHERE ${TABLES} ORDER BY name`,
  );

/** Puts rows of today into each table, with defaults in all other columns; gives how many each has. */
async function fill(store: Store): Promise<ReadonlyMap<string, number>> {
  const columns = await store.ownerRows(
    "SELECT table, groupArray(name) FROM system.columns WHERE database = currentDatabase() AND table != 'migrations' AND default_kind NOT IN ('ALIAS', 'MATERIALIZED') AND (type LIKE 'Date%' OR name IN ('tenant_id', 'kafka_off')) GROUP BY table",
  );
  const tables = columns.map(([table]) => String(table));
  for (const [table, names] of columns) {
    const values = (names as string[]).map((name) =>
      name === 'tenant_id' ? 'toUInt32(7 + number)' : name === 'kafka_off' ? 'number' : 'now()',
    );
    await store.command(
      `INSERT INTO ${String(table)} (${(names as string[]).join(', ')}) SELECT ${values.join(', ')} FROM numbers(${String(ROWS)})`,
    );
  }
  return countsOf(store, tables);
}

async function countsOf(store: Store, tables: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const table of tables) counts.set(table, Number((await store.ownerRows(`SELECT count() FROM ${table}`))[0]?.[0]));
  return counts;
}

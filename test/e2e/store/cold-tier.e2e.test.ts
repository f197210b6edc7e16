import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startClickHouse, type ClickHouse } from '../../../compose/embedded/clickhouse.ts';
import { freePorts } from '../../../compose/embedded/ports.ts';
import { StartError } from '../../../compose/embedded/start-error.ts';
import type { StoragePlace } from '../../../pipeline/core/storage-place.ts';
import { moveOldRows } from '../../../pipeline/store/cold-tier.ts';
import { Store, toHttpError } from '../../../pipeline/store/client.ts';
import { migrate } from '../../../pipeline/store/migrations.ts';
import { installToolset, NotHere } from '../../shippers/toolsets.ts';
import { until } from '../instance.ts';
import { LogsqlStore } from '../logsql-store.ts';

const TIER = { policy: 'logweir', afterDays: 3 };
const FOLDER = { accessKey: '', secretKey: '' };
const BY_DISK =
  "SELECT disk_name, sum(rows) FROM system.parts WHERE active AND database = currentDatabase() AND table = 'logs' GROUP BY 1 ORDER BY 1";
const ALL = 'SELECT count(), sum(cityHash64(*)) FROM logs';

/** Entries that came so many days ago, with a time of that day. */
async function insert(store: Store, daysAgo: number, count: number): Promise<void> {
  await store.command(
    `INSERT INTO logs (tenant_id, _time, arrived, _msg, retention_days, kafka_part, kafka_off, kafka_idx) SELECT 1, now64(9) - INTERVAL ${String(daysAgo)} DAY, now64(3) - INTERVAL ${String(daysAgo)} DAY, concat('m', toString(number)), 30, 0, ${String(daysAgo)} * 1000 + number, 0 FROM numbers(${String(count)})`,
  );
}

describe('old rows on a cold volume', function () {
  this.timeout(600_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-cold-'));
  let engine: ClickHouse | undefined;
  let store: Store | undefined;
  after(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });

  async function end(): Promise<void> {
    await store?.close();
    await engine?.stop();
    [store, engine] = [undefined, undefined];
  }
  async function start(name: string, cold: StoragePlace | null): Promise<Store> {
    await end();
    engine = await startClickHouse({ dataDir: path.join(folder, name), cold });
    const { url, user, password, database, readerUser, readerPassword } = engine;
    store = new Store({ url, user, password, database, readerUser, readerPassword });
    await migrate(store);
    return store;
  }
  const disks = (of: Store): Promise<unknown[][]> =>
    of.ownerRows(BY_DISK).then((rows) => rows.map(([disk, rows_]) => [disk, Number(rows_)]));
  const movedTo = (of: Store, wanted: readonly unknown[][]): Promise<unknown> =>
    until('the rows to be moved', () => disks(of), (found) => JSON.stringify(found) === JSON.stringify(wanted)); // prettier-ignore

  it('moves what came days ago to a folder, also what was there before, and answers the same', async () => {
    const cold = { at: path.join(folder, 'hdd'), ...FOLDER };
    let own = await start('one', cold);
    await insert(own, 10, 100);
    await insert(own, 0, 50);
    const before = await own.ownerRows(ALL);
    await moveOldRows(own, TIER);
    await movedTo(own, [['cold', 100], ['default', 50]]); // prettier-ignore
    expect(await own.ownerRows(ALL)).to.deep.equal(before);
    await insert(own, 5, 7);
    await movedTo(own, [['cold', 107], ['default', 50]]); // prettier-ignore
    // all tables have the rule, and a second time changes nothing
    const commands: string[] = [];
    const watched = { ownerRows: own.ownerRows.bind(own), command: (text: string) => (commands.push(text), own.command(text)) };
    await moveOldRows(watched, TIER);
    expect(commands).to.deep.equal([]);
    await moveOldRows(watched, { ...TIER, afterDays: 8 });
    expect(commands.filter((text) => text.includes("toIntervalDay(8) TO VOLUME 'cold'"))).to.have.length(4);
    await moveOldRows(own, { ...TIER, afterDays: 0 });
    const [[rules] = []] = await own.ownerRows("SELECT countIf(create_table_query LIKE '%TO VOLUME%') FROM system.tables WHERE database = currentDatabase()"); // prettier-ignore
    expect(Number(rules)).to.equal(0);
    const kept = await own.ownerRows(ALL);
    // where the rows are must be named at each start
    await end();
    for (const named of [null, { at: path.join(folder, 'other'), ...FOLDER }]) {
      const refused = await startClickHouse({ dataDir: path.join(folder, 'one'), cold: named }).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(StartError);
      expect((refused as Error).message).to.contain(`rows on ${cold.at}: name it in LOGWEIR_COLD_VOLUME`);
    }
    own = await start('one', cold);
    expect(await own.ownerRows(ALL)).to.deep.equal(kept);
  });

  it('says what a storage policy lacks', async () => {
    const own = await LogsqlStore.start();
    const error = await moveOldRows(own.store, TIER).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.contain('needs "default" as its first volume, and one "cold"; it has no such policy');
    await own.stop();
  });

  it('takes S3, whose silence stops no insert, and ends a query of old rows with an error', async function () {
    const { folder: tools } = await installToolset('s3', () => undefined).catch((error: unknown) => {
      if (error instanceof NotHere) this.skip();
      throw error;
    });
    mkdirSync(path.join(folder, 's3', 'bucket'), { recursive: true });
    const [port = 0] = await freePorts(1);
    const keys = { accessKey: 'cold-access', secretKey: 'cold-secret-key' };
    const args = ['--port', `127.0.0.1:${String(port)}`, 'posix', path.join(folder, 's3')];
    const env = { ...process.env, ROOT_ACCESS_KEY: keys.accessKey, ROOT_SECRET_KEY: keys.secretKey };
    const gateway: ChildProcess = spawn(path.join(tools, 'bin', 'versitygw'), args, { env, stdio: 'ignore' });
    try {
      const own = await start('two', { at: `http://127.0.0.1:${String(port)}/bucket/logs/`, ...keys });
      await moveOldRows(own, TIER);
      await insert(own, 10, 100);
      await movedTo(own, [['cold', 100]]);
      const before = await own.ownerRows(ALL);
      gateway.kill('SIGSTOP');
      // what came now, and what came long ago: neither waits for S3
      await insert(own, 0, 50);
      await insert(own, 6, 20);
      expect(await disks(own)).to.deep.equal([['cold', 100], ['default', 70]]); // prettier-ignore
      const [[recent] = []] = await own.ownerRows('SELECT count() FROM logs WHERE arrived > now() - INTERVAL 1 DAY');
      expect(Number(recent)).to.equal(50);
      const silent = await own.ownerRows(`${ALL} WHERE _msg != ''`).catch((error: unknown) => error);
      expect(toHttpError(silent)).to.include({ status: 503, slug: 'store_unavailable' });
      gateway.kill('SIGCONT');
      await movedTo(own, [['cold', 120], ['default', 50]]); // prettier-ignore
      const after = await own.ownerRows(`${ALL} WHERE toDate(arrived) = toDate(now() - INTERVAL 10 DAY)`);
      expect(after).to.deep.equal(before);
    } finally {
      gateway.kill('SIGCONT');
      gateway.kill('SIGKILL');
    }
  });
});

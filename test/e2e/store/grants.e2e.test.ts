import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { backUp } from '../../../api/backups/backup.ts';
import { readPlace } from '../../../api/backups/place.ts';
import { restore } from '../../../api/backups/restore.ts';
import { startClickHouse, type ClickHouse } from '../../../compose/embedded/clickhouse.ts';
import type { LogRecord } from '../../../pipeline/logs/record.ts';
import { until } from '../instance.ts';
import { BackupWorld } from '../../fakes/backup-world.ts';
import { logRecord, rangeOf } from '../../fakes/log-record.ts';
import { sql } from '../../../pipeline/core/sql.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { migrate, newestMigration } from '../../../pipeline/store/migrations.ts';
import { giveServerId, serverIds } from '../../../pipeline/store/server-id.ts';
import { storedPositions } from '../../../sinks/audit/stored.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { TableWriter } from '../../../sinks/writer.ts';

const USER = 'documented';
const PASSWORD = 'secret-of-the-owner';

/** What docs/operations.md grants the owner, as the users' file takes it. */
function documentedGrants(): string[] {
  const text = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  return [...text.matchAll(/^(GRANT [^;]+) TO logweir;$/gm)].map(([, grant = '']) => grant.replaceAll(/\s+/g, ' '));
}

/** Adds the user to those of an embedded engine. */
function addUser(file: string): void {
  const hash = createHash('sha256').update(PASSWORD).digest('hex');
  const grants = documentedGrants().map((grant) => `<query>${grant}</query>`);
  const user = `<${USER}><password_sha256_hex>${hash}</password_sha256_hex><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota><grants>${grants.join('')}</grants></${USER}>`;
  writeFileSync(file, readFileSync(file, 'utf8').replace('</users>', `${user}</users>`));
}

describe('an owner with the rights that the documentation names', function () {
  this.timeout(600_000);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'logweir-grants-'));
  let engine: ClickHouse;
  let store: Store;

  before(async () => {
    // the file is written before the engine is spawned, and read after that
    engine = await startClickHouse({ dataDir, onSpawn: () => addUser(path.join(dataDir, 'clickhouse', 'users.xml')) });
    const { url, database } = engine;
    store = new Store({ url, user: USER, password: PASSWORD, database, readerUser: USER, readerPassword: PASSWORD });
  });
  after(async () => {
    await store.close();
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const record = (offset: number): LogRecord =>
    logRecord({
      offset,
      value: Buffer.from(
        `${JSON.stringify({ _time: '1795000000000000000', _stream_id: '5', severity: 0, level: '', service: '', _msg: `m${String(offset)}` })}\n`,
      ),
      original: { key: null, value: null, headers: {}, timestamp: '1795000000000' },
    });

  it('can do all that the service does, and nothing outside its database', async () => {
    expect(documentedGrants()).to.not.deep.equal([]);
    await migrate(store);
    const writer = new TableWriter({ sink: createLogsSink(), store, log: pino({ level: 'silent' }), mostRefused: 5, metrics: { stored: () => undefined } }); // prettier-ignore
    expect(await writer.store(rangeOf(record(1), record(2)), false)).to.deep.equal([]);
    expect(await writer.store(rangeOf(record(1), record(2)), true), 'read back').to.deep.equal([]);
    expect(await writer.store({ ...rangeOf(record(2), record(3)), inDoubt: 5 }, true), 'what is missing').to.deep.equal([]);
    await store.command("ALTER TABLE logs ADD CONSTRAINT none CHECK _msg != 'm5'");
    const refused = await writer.store(rangeOf(record(4), record(5)), false);
    expect(refused).to.be.an('array').with.lengthOf(1).with.nested.property('[0].record.offset', 5);
    expect(await writer.highest(0, 0, null)).to.equal(3);
    expect((await storedPositions(store, 'logs').between(0, 0, 9)).map(({ offset, rows }) => [offset, rows])).to.deep.equal([1, 2, 3].map((offset) => [offset, 1])); // prettier-ignore
    await store.command('DELETE FROM logs WHERE tenant_id = 7');
    const outside = await store.command('CREATE DATABASE elsewhere').catch((error: unknown) => error);
    expect(outside)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/Not enough privileges/);
  });

  it('can back the tables up, and restore them', async () => {
    const world = new BackupWorld();
    // with the log of another Kafka most is done
    world.logs = { cluster: 'other', bounds: new Map([['logs.v1', new Map([[0, { low: 0, end: 1 }]])]]) };
    const { url } = engine;
    const of = (database: string): Store =>
      new Store({ url, user: USER, password: PASSWORD, database, readerUser: USER, readerPassword: PASSWORD });
    const server = of('system');
    const within =
      (use: (scratch: Store) => Promise<unknown>) =>
      async (database: string): Promise<void> => {
        const scratch = of(database);
        try {
          await use(scratch);
        } finally {
          await scratch.close();
        }
      };
    const [prepare, identify] = [within(migrate), within(giveServerId)];
    const place = readPlace('granted', { accessKey: '', secretKey: '', disk: null });
    try {
      const sources = { ...world.sources, newestSchema: await newestMigration(), server, prepare, identify };
      const { tables } = await backUp(sources, place, () => undefined);
      const rows = tables.find(({ name }) => name === 'logs')?.rows;
      await giveServerId(store);
      const [before] = await serverIds([store]);
      await server.command('DROP DATABASE logweir SYNC');
      expect([before?.length, ...(await serverIds([store]))]).to.deep.equal([36, '']);
      expect((await restore(sources, place, () => undefined)).rows).to.be.at.least(rows ?? Infinity);
      expect(Number((await store.ownerRows('SELECT count() FROM logs'))[0]?.[0])).to.equal(rows);
      const [after] = await serverIds([store]);
      expect([after?.length, after === before], 'it is known as another one').to.deep.equal([36, false]);
      expect((await store.ownerRows('SELECT scope, stream_id FROM volume')).map(String)).to.deep.equal(['4,1']);
    } finally {
      await server.close();
    }
  });

  it('sees what the statements of another user, the reader, use', async () => {
    const { url, database, readerUser, readerPassword } = engine;
    const both = new Store({ url, user: USER, password: PASSWORD, database, readerUser, readerPassword });
    const end = new AbortController();
    const endless = sql`SELECT sum(sipHash64(number)) FROM numbers(1000000000000)`;
    const running = both.rows(endless, { tenantId: 7, timeoutMs: 600_000, signal: end.signal }).catch(() => 'ended');
    try {
      await until('what it uses', async () => (await both.runningStatements()).map(({ cpuMs }) => cpuMs), ([ms = 0]) => ms > 0); // prettier-ignore
    } finally {
      end.abort();
      await running;
      await both.close();
    }
  });
});

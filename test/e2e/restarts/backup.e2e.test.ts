import { expect } from 'chai';
import { cpSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { isWhole } from '../../extent.ts';
import { askClickHouse } from '../engine.ts';
import { startInstance, until, type Instance } from '../instance.ts';
import { runCli, type Printed } from '../shared.ts';
import { BackupLoad, PER_BODY, TENANT } from './backup-load.ts';

/** So many entries come first: a restore of them takes long enough to be met in it. */
const FIRST = 20_000;
/** All roles but the one that stores. */
const WITHOUT_SINK = ['--role', 'ingest,app,processors'];
const TOPICS = ['logs.v1', 'spans.v1', 'span_counts.v1', 'samples.v1', 'counters.v1', 'measures.v1', 'pattern_counts.v1', 'patterns.v1'];

// a sample is in test/e2e/restarts/sets.e2e.test.ts, which restores a set from the backup of another
(isWhole ? describe : describe.skip)('a backup under load, and its restore', function () {
  this.timeout(1_200_000);
  let instance: Instance;
  let load: BackupLoad;
  const backups = (...steps: string[]): string => path.join(instance.dataDir, 'backups', ...steps);
  const admin = (...args: string[]): Promise<Printed> => runCli(instance, TENANT, ['admin', ...args]);
  const again = async (args: readonly string[]): Promise<void> => {
    await instance.stop({ keep: true });
    instance = await startInstance({ dataDir: instance.dataDir, args });
    load.url = instance.ingest;
  };
  const stored = async (): Promise<number> => Number((await askClickHouse(instance, 'SELECT count() FROM logs'))[0]?.[0]);
  const refused = async (why: RegExp, ...args: string[]): Promise<void> => {
    const { code, stderr } = await admin(...args);
    expect(stderr).to.match(why);
    expect(code).to.not.equal(0);
  };

  before(async () => {
    instance = await startInstance();
    load = new BackupLoad(instance, FIRST);
    await until('stored entries', stored, (count) => count > FIRST);
  });
  after(async () => {
    await load.stop();
    await instance.stop();
  });

  it('is made while entries are stored, and says what it has', async () => {
    const { code, stdout, stderr } = await admin('backup', '--at', 'nightly', '--json');
    expect(code, stderr).to.equal(0);
    const { state, result } = JSON.parse(stdout) as { state: string; result: { rows: number; tables: { name: string; rows: number }[] } };
    expect(state).to.equal('done');
    expect(result.tables.find(({ name }) => name === 'logs')?.rows).to.be.greaterThan(1000);
    expect(readdirSync(backups('nightly')).sort()).to.deep.equal(['manifest', 'tables']);
    await refused(/already exists/, 'backup', '--at', 'nightly');
    await load.untilMore(1000);
  });

  it('is not restored while sinks run, nor over rows', async () => {
    await refused(/Sinks run \(.*logs.*\)/, 'restore', '--at', 'nightly');
    await again(WITHOUT_SINK);
    await refused(/The database logweir is not empty: \w+ has \d+ rows/, 'restore', '--at', 'nightly');
    await load.untilMore(200);
  });

  it('is refused where it is not a whole backup of Logweir', async () => {
    await refused(/no whole backup.*not found/i, 'restore', '--at', 'absent');
    await refused(/"at" is where/, 'restore', '--at', '../nightly');
    // one that was not ended: the tables without a manifest
    cpSync(backups('nightly', 'tables'), backups('halved', 'tables'), { recursive: true });
    await refused(/no whole backup/, 'restore', '--at', 'halved');
    // a torn one
    cpSync(backups('nightly'), backups('torn'), { recursive: true });
    const files = readdirSync(backups('torn', 'manifest'), { recursive: true, withFileTypes: true });
    for (const { name, parentPath } of files) if (name === 'data.bin') truncateSync(path.join(parentPath, name), 40);
    await refused(/no whole backup/, 'restore', '--at', 'torn');
    // somebody else's
    await askClickHouse(instance, 'CREATE TABLE other (x UInt8) ENGINE = MergeTree ORDER BY x');
    await askClickHouse(instance, "BACKUP TABLE other AS logweir.manifest TO File('foreign/manifest')");
    await askClickHouse(instance, 'DROP TABLE other SYNC');
    await refused(/no whole backup/, 'restore', '--at', 'foreign');
  });

  it('is restored again where ClickHouse is killed meanwhile', async () => {
    await askClickHouse(instance, 'DROP DATABASE logweir SYNC');
    const { pid = 0, restarts = 0 } = instance.processes().get('clickhouse') ?? {};
    const restoring = admin('restore', '--at', 'nightly');
    // what is looked for is there for less than a second
    while ((await askServer(instance, "SELECT count() FROM system.databases WHERE name = 'logweir_restoring'")).trim() !== '1');
    process.kill(pid, 'SIGKILL');
    const { code, stderr } = await restoring;
    expect(code).to.equal(1);
    expect(stderr).to.match(/The restore has failed\. While .*(?:started again|ECONN|hang up|socket|does not answer)/);
    await until('ClickHouse', () => Promise.resolve(instance.processes().get('clickhouse')), (row) => (row?.restarts ?? 0) > restarts); // prettier-ignore
    await until('an answer', () => askServer(instance, 'SELECT 1'), (text) => text.trim() === '1'); // prettier-ignore
  });

  it('gives, with the log, each acknowledged entry once, and all that is derived of them', async () => {
    const { code, stdout, stderr } = await admin('restore', '--at', 'nightly', '--json');
    expect(code, stderr).to.equal(0);
    const { result } = JSON.parse(stdout) as { result: { records_to_read: number; lost_records: number; notes: string[] } };
    expect(result).to.deep.include({ lost_records: 0, notes: [] });
    expect(result.records_to_read).to.be.greaterThan(0);
    await load.untilMore(200);
    await again([]);
    await load.untilMore(200);
    await load.stop();
    await load.untilStored(instance);
    expect(await load.notOnce(instance)).to.deep.equal([]);
    for (const topic of TOPICS) await until(`a clean audit of ${topic}`, () => audited(topic), (found) => found === 'clean'); // prettier-ignore
    await until('the volume', () => instance.count('_msg:backup*'), (count) => count >= load.acknowledged.size); // prettier-ignore
    expect(await instance.count('*', { start: '-1h', end: 'now', step: '1h' })).to.equal(await stored());
    const spans = await askClickHouse(instance, 'SELECT count(), uniqExact(trace_id) FROM spans');
    expect(Number(spans[0]?.[0])).to.be.at.least(load.spans);
    expect(spans[0]?.[0]).to.equal(spans[0]?.[1]);
  });

  it('gives, with the log of another Kafka, the rows of both, counted once', async function () {
    const backupDir = backups();
    await instance.stop({ keep: true });
    const other = await startInstance({ args: WITHOUT_SINK, env: { LOGWEIR_BACKUP_DIR: backupDir } });
    try {
      const send = async (to: Instance, name: string): Promise<void> => {
        for (let body = 0; body < 20; body++) {
          const entries = Array.from({ length: PER_BODY }, (_, at) => ({ _msg: `${name} ${String(body)} ${String(at)}`, app: 'other' }));
          expect((await to.call('POST', `${to.ingest}/api/v1/ingest`, entries)).status).to.equal(200);
        }
      };
      await send(other, 'before');
      const { code, stdout, stderr } = await runCli(other, TENANT, ['admin', 'restore', '--at', 'nightly', '--json']);
      expect(code, stderr).to.equal(0);
      const { result } = JSON.parse(stdout) as { result: { notes: string[]; lost_records: number } };
      expect(result.notes.join()).to.include('The log of logs.v1, ');
      const [[before = ''] = []] = await askClickHouse(other, 'SELECT count() FROM logs');
      await other.stop({ keep: true });
      const whole = await startInstance({ dataDir: other.dataDir, env: { LOGWEIR_BACKUP_DIR: backupDir } });
      try {
        await send(whole, 'after');
        const wanted = Number(before) + 2 * 20 * PER_BODY;
        const count = async (): Promise<number> => Number((await askClickHouse(whole, 'SELECT uniqExact(_msg) FROM logs'))[0]?.[0]);
        await until('entries of both logs', count, (rows) => rows === wanted);
        expect((await askClickHouse(whole, 'SELECT count() FROM logs'))[0]?.[0]).to.equal(String(wanted));
        const closed = 'SELECT count() FROM volume WHERE scope = 3 AND until > 0';
        await until('counts of the new log', async () => Number((await askClickHouse(whole, closed))[0]?.[0]), (rows) => rows > 0); // prettier-ignore
        await until('hits of both', () => whole.count('*'), (hits) => hits === wanted); // prettier-ignore
      } finally {
        await whole.stop();
      }
    } finally {
      await other.stop();
    }
  });

  /** What the audit says of a topic and its table: `clean`, once all of it is stored. */
  const audited = async (topic: string): Promise<string> => {
    const { stdout, stderr } = await runCli(instance, TENANT, ['audit', '--topic', topic, '--json']);
    if (stdout === '') return stderr;
    const {
      findings,
      recounted = [],
      stray,
      partitions,
    } = JSON.parse(stdout) as {
      findings: unknown[];
      recounted?: unknown[];
      stray: number;
      partitions: { pending_records: number }[];
    };
    const pending = partitions.reduce((sum, { pending_records: records }) => sum + records, 0);
    if (findings.length + recounted.length + stray > 0) return JSON.stringify({ findings, recounted, stray });
    return pending > 0 && topic === 'logs.v1' ? `${String(pending)} pending` : 'clean';
  };
});

/** As `askClickHouse`, where the database may not be there. */
async function askServer(instance: Instance, statement: string): Promise<string> {
  const read = (name: string): string => readFileSync(path.join(instance.dataDir, 'clickhouse', name), 'utf8').trim();
  const { password } = JSON.parse(read('secrets.json')) as { password: string };
  const response = await fetch(read('url'), {
    method: 'POST',
    body: statement,
    headers: { 'X-ClickHouse-User': 'logweir', 'X-ClickHouse-Key': password },
  });
  return response.text();
}

import { expect } from 'chai';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePorts } from '../../free-ports.ts';
import { isWhole } from '../../extent.ts';
import { installToolset, NotHere } from '../../shippers/toolsets.ts';
import { askClickHouse } from '../engine.ts';
import { startInstance, until, type Instance } from '../instance.ts';
import { runCli, type Printed } from '../shared.ts';
import { BackupLoad, TENANT } from './backup-load.ts';

const KEYS = { access: 'backup-access-key', secret: 'backup-secret-key-0123' };
const WITHOUT_SINK = ['--role', 'ingest,app,processors'];
/** What docs/operations.md says of a store that cannot be written to. Milliseconds. */
const TOLD_WITHIN_MS = 180_000;

/** An S3 server over a folder: a bucket is a folder in it. */
class Gateway {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-s3-'));
  readonly port: number;
  readonly #program: string;
  #process: ChildProcess | null = null;

  constructor(program: string, port: number) {
    this.#program = program;
    this.port = port;
    mkdirSync(this.bucket);
  }

  get bucket(): string {
    return path.join(this.folder, 'bucket');
  }

  async start(secret = KEYS.secret): Promise<void> {
    await this.stop();
    const env = { ...process.env, ROOT_ACCESS_KEY: KEYS.access, ROOT_SECRET_KEY: secret };
    this.#process = spawn(this.#program, ['--port', `127.0.0.1:${String(this.port)}`, 'posix', this.folder], { env, stdio: 'ignore' });
    const answers = (): Promise<number> => fetch(`http://127.0.0.1:${String(this.port)}/`).then(({ status }) => status, () => 0); // prettier-ignore
    await until('the S3 server', answers, (status) => status !== 0);
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name);
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    const running = this.#process;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGCONT');
    running.kill('SIGKILL');
    await gone;
  }
}

(isWhole ? describe : describe.skip)('a backup of the embedded ClickHouse on S3', function () {
  this.timeout(1_800_000);
  let gateway: Gateway;
  let instance: Instance;
  let load: BackupLoad;
  const ends: (() => Promise<unknown>)[] = [];
  let env: Record<string, string>;
  /** All that the commands have said. */
  const said: string[] = [];

  before(async function () {
    const { folder } = await installToolset('s3', () => undefined).catch((error: unknown) => {
      if (error instanceof NotHere) this.skip();
      throw error;
    });
    const [port = 0] = await freePorts(1);
    gateway = new Gateway(path.join(folder, 'bin', 'versitygw'), port);
    ends.push(() => gateway.end());
    await gateway.start();
    env = {
      LOGWEIR_BACKUP_DIR: `http://127.0.0.1:${String(port)}/bucket/logweir`,
      LOGWEIR_BACKUP_S3_ACCESS_KEY: KEYS.access,
      LOGWEIR_BACKUP_S3_SECRET_KEY: KEYS.secret,
    };
    instance = await startInstance({ env });
    ends.push(() => instance.stop());
    load = new BackupLoad(instance, 5000);
    ends.push(() => load.stop());
    const stored = async (): Promise<number> => Number((await askClickHouse(instance, 'SELECT count() FROM logs'))[0]?.[0]);
    await until('stored entries', stored, (count) => count > 5000);
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  const admin = async (...args: string[]): Promise<Printed> => {
    const printed = await runCli(instance, TENANT, ['admin', ...args]);
    said.push(printed.stdout, printed.stderr);
    return printed;
  };
  const again = async (args: readonly string[]): Promise<void> => {
    await instance.stop({ keep: true });
    instance = await startInstance({ dataDir: instance.dataDir, args, env });
    load.url = instance.ingest;
  };
  /** A backup that cannot be made is told of in time; meanwhile entries are taken, stored and found. */
  const failsInTime = async (name: string, why: RegExp): Promise<void> => {
    const began = Date.now();
    const backup = admin('backup', '--at', name);
    await load.untilMore(100);
    const found = await instance.call('POST', `${instance.app}/api/v1/tenants/1/search`, { query: 'backup', start: '-1h', limit: 1 });
    expect(found.status).to.equal(200);
    const { code, stderr } = await backup;
    const lasted = Date.now() - began;
    console.log(`    ${name}: ${String(lasted)} ms: ${stderr.trim().split('\n').at(-1) ?? ''}`);
    expect(stderr).to.match(why);
    expect(code).to.equal(1);
    expect(lasted).to.be.lessThan(TOLD_WITHIN_MS);
  };

  it('is made under load, where LOGWEIR_BACKUP_DIR says, and once under a name', async () => {
    const { code, stdout, stderr } = await admin('backup', '--at', 'nightly', '--json');
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.have.nested.property('result.rows').that.is.greaterThan(5000);
    const at = path.join(gateway.bucket, 'logweir', 'nightly');
    expect(readdirSync(at).sort()).to.deep.equal(['manifest', 'tables']);
    expect(readdirSync(path.join(at, 'tables'))).to.include('.backup');
    expect((await admin('backup', '--at', 'nightly')).stderr).to.match(/already exists/);
    await load.untilMore(200);
  });

  it('tells in time, and stops nothing, where the secret is wrong', async () => {
    await gateway.start('another-secret');
    await failsInTime('wrong-secret', /The backup has failed\. While copying the tables: .*(?:signature|Forbidden|denied)/i);
    expect((await admin('restore', '--at', 'nightly')).stderr).to.match(/no whole backup.*(?:signature|Forbidden|denied)/i);
  });

  it('tells in time, and stops nothing, where the bucket is missing', async () => {
    await gateway.start();
    renameSync(gateway.bucket, `${gateway.bucket}-away`);
    try {
      await failsInTime('no-bucket', /The backup has failed\. While copying the tables: .*bucket/i);
    } finally {
      renameSync(`${gateway.bucket}-away`, gateway.bucket);
    }
  });

  it('tells in time, and stops nothing, where S3 is silent or gone; another node is refused meanwhile', async () => {
    const other = await anotherNode(instance);
    try {
      gateway.signal('SIGSTOP');
      const backup = failsInTime('silent', /The backup has failed\. While copying the tables: .*timeout/i);
      const refused = async (): Promise<string> => {
        const { stderr } = await runCli(other, TENANT, ['admin', 'backup', '--at', 'disk:backups/other']);
        return stderr;
      };
      await until('the turn of the first node', refused, (text) => text.includes('Another node backs up or restores the set a: one at a time.')); // prettier-ignore
      await backup;
    } finally {
      gateway.signal('SIGCONT');
      await other.stop();
    }
    await gateway.stop();
    await failsInTime('gone', /The backup has failed\. While copying the tables: .*refused/i);
    await gateway.start();
  });

  it('is refused by its URL, which the engine has no threads for', async () => {
    const { stderr } = await admin('backup', '--at', `http://127.0.0.1:${String(gateway.port)}/bucket/url`);
    expect(stderr).to.match(/set LOGWEIR_BACKUP_DIR to the URL of a prefix there/);
  });

  it('has its keys in no log, answer, statement or process', async () => {
    const ready = await (await fetch(`${instance.admin}/ready`)).text();
    const metrics = await (await fetch(`${instance.admin}/metrics`)).text();
    const processes = execFileSync('ps', ['-eo', 'args', '-ww'], { encoding: 'utf8' });
    const tables = await askClickHouse(instance, "SELECT concat('SELECT * FROM system.', name) FROM system.tables WHERE database = 'system' AND name IN ('backups', 'databases', 'disks', 'errors', 'processes', 'query_log', 'tables')"); // prettier-ignore
    expect(tables.length).to.be.greaterThan(4);
    const rows = await Promise.all(tables.map(async ([statement = '']) => JSON.stringify(await askClickHouse(instance, statement))));
    const logs = ['logs', 'clickhouse', 'kafka'].flatMap((folder) => {
      const at = path.join(instance.dataDir, folder);
      return readdirSync(at).filter((name) => name.endsWith('.log')).map((name) => readFileSync(path.join(at, name), 'utf8')); // prettier-ignore
    });
    for (const text of [...said, ready, metrics, processes, ...rows, ...logs]) expect(text).to.not.include(KEYS.secret);
  });

  it('is restored into an empty ClickHouse, and gives, with the log, each acknowledged entry once', async () => {
    await again(WITHOUT_SINK);
    await load.untilMore(200);
    await instance.stop({ keep: true });
    rmSync(path.join(instance.dataDir, 'clickhouse'), { recursive: true });
    await again(WITHOUT_SINK);
    const { code, stdout, stderr } = await admin('restore', '--at', 'disk:backups/nightly', '--json');
    expect(code, stderr).to.equal(0);
    const { result } = JSON.parse(stdout) as { result: { records_to_read: number; lost_records: number; notes: string[] } };
    expect(result).to.deep.include({ lost_records: 0, notes: [] });
    expect(result.records_to_read).to.be.greaterThan(0);
    await again([]);
    await load.untilMore(200);
    await load.stop();
    await load.untilStored(instance);
    expect(await load.notOnce(instance)).to.deep.equal([]);
    await until('the volume', () => instance.count('_msg:backup*'), (count) => count >= load.acknowledged.size); // prettier-ignore
  });
});

/** Another app on the engines of an instance, as a second node of a cluster is. */
async function anotherNode({ dataDir }: Instance): Promise<Instance> {
  const read = (name: string): string => readFileSync(path.join(dataDir, name), 'utf8').trim();
  const secrets = JSON.parse(read('clickhouse/secrets.json')) as { password: string; readerPassword: string };
  return startInstance({
    args: ['--role', 'app'],
    env: {
      LOGWEIR_KAFKA_BROKERS: read('kafka/brokers'),
      LOGWEIR_CLICKHOUSE_URL: read('clickhouse/url'),
      LOGWEIR_CLICKHOUSE_USER: 'logweir',
      LOGWEIR_CLICKHOUSE_PASSWORD: secrets.password,
      LOGWEIR_CLICKHOUSE_READER_USER: 'reader',
      LOGWEIR_CLICKHOUSE_READER_PASSWORD: secrets.readerPassword,
      LOGWEIR_KEY_PEPPER: read('key.pepper'),
    },
  });
}

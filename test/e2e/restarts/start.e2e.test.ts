import { expect } from 'chai';
import { Kafka, logLevel } from 'kafkajs';
import { readFileSync, rmSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startClickHouse, type ClickHouse } from '../../../compose/embedded/clickhouse.ts';
import { startKafka } from '../../../compose/embedded/kafka.ts';
import { Instance, isRunning, until } from '../../main/instance.ts';

type Login = { readonly url: string; readonly user: string; readonly password: string };

/** Runs a statement; answers the status and the text. */
async function query(
  sql: string,
  { url, user, password }: Login,
  settings: Record<string, string> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { 'x-clickhouse-user': user, 'x-clickhouse-key': password, connection: 'close' };
  const response = await fetch(`${url}/?${new URLSearchParams(settings).toString()}`, { method: 'POST', body: sql, headers });
  return { status: response.status, text: (await response.text()).trim() };
}

/** Runs a statement that must succeed. */
async function rows(sql: string, login: Login, settings: Record<string, string> = {}): Promise<string> {
  const { status, text } = await query(sql, login, settings);
  expect(status, text).to.equal(200);
  return text;
}

/** The texts on a topic, all from the start. */
async function readTopic(kafka: Kafka, topic: string, count: number): Promise<string[]> {
  const consumer = kafka.consumer({ groupId: `read-${Date.now()}` });
  const texts: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({ eachMessage: ({ message }) => Promise.resolve(void texts.push(message.value?.toString() ?? '')) });
  await until(() => texts.length >= count, 'records are back', 120_000);
  await consumer.disconnect();
  return texts;
}

const clientOf = (brokers: string): Kafka =>
  new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, retry: { initialRetryTime: 100, retries: 200, maxRetryTime: 500 } });

async function produce(kafka: Kafka, topic: string, value: string): Promise<void> {
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, messages: [{ value }], acks: -1 });
  await producer.disconnect();
}

async function createTopic(kafka: Kafka, topic: string): Promise<string[]> {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 2, replicationFactor: 1 }], waitForLeaders: false });
  const topics = await admin.listTopics();
  await admin.disconnect();
  return topics;
}

describe('embedded engines', function () {
  this.timeout(600_000); // the first run fetches Kafka
  const folder = mkdtempSync(path.join(tmpdir(), 'logweir-engines-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('ClickHouse serves its owner, and its reader one tenant only', async () => {
    const clickhouse: ClickHouse = await startClickHouse({ dataDir: folder });
    const reader = { url: clickhouse.url, user: clickhouse.readerUser, password: clickhouse.readerPassword };
    try {
      expect(await rows('SELECT 1', clickhouse)).to.equal('1');
      expect(statSync(path.join(folder, 'clickhouse/secrets.json')).mode & 0o777).to.equal(0o600);
      // The row filter is there before the database is.
      await rows('CREATE DATABASE logweir', clickhouse);
      for (const table of ['logs', 'streams', 'patterns'])
        await rows(`CREATE TABLE logweir.${table} (tenant_id UInt32) ENGINE = MergeTree ORDER BY tenant_id`, clickhouse);
      await rows('INSERT INTO logweir.logs VALUES (1), (1), (2)', clickhouse);
      await rows('INSERT INTO logweir.streams VALUES (1), (2)', clickhouse);
      const count = (table: string, settings = {}): Promise<string> =>
        rows(`SELECT count(), sum(tenant_id) FROM logweir.${table}`, reader, settings);
      expect(await count('logs')).to.equal('0\t0');
      expect(await count('logs', { log_comment: '1' })).to.equal('2\t2');
      expect(await count('logs', { log_comment: '2' })).to.equal('1\t2');
      expect(await count('streams', { log_comment: '2' })).to.equal('1\t2');
      expect(await count('logs', { log_comment: 'x' })).to.equal('0\t0');
      expect(await rows('SELECT count() FROM logweir.logs', clickhouse)).to.equal('3');
    } finally {
      await clickhouse.stop();
    }
    expect(isRunning(clickhouse.pid)).to.equal(false);
  });

  it('ClickHouse lets nobody in without a password, and its reader change or reach nothing', async () => {
    const clickhouse = await startClickHouse({ dataDir: folder });
    const reader = { url: clickhouse.url, user: clickhouse.readerUser, password: clickhouse.readerPassword };
    try {
      for (const user of ['logweir', 'reader', 'nobody']) {
        expect(await query('SELECT 1', { url: clickhouse.url, user, password: '' })).to.have.property('status', 403);
      }
      // The engine's own user has no password; what is left of it must be of no use.
      const keepAlive = { url: clickhouse.url, user: 'default', password: '' };
      for (const sql of ['SYSTEM STOP LISTEN HTTP', 'SHOW DATABASES', 'SELECT number FROM system.numbers LIMIT 1', 'KILL QUERY WHERE 1']) {
        expect((await query(sql, keepAlive)).text, sql).to.match(/^Code: 201\./);
      }
      expect((await query('SELECT * FROM logweir.logs', keepAlive)).text).to.match(/^Code: (201|497)\./);
      expect(await rows('SELECT 1', clickhouse)).to.equal('1');
      const refused = [
        'INSERT INTO logweir.logs VALUES (1)',
        'DROP TABLE logweir.logs',
        'CREATE TABLE logweir.x (a Int8) ENGINE = Memory',
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
        'SELECT * FROM system.processes',
        'SELECT * FROM system.parts',
        'SELECT * FROM system.users',
        'SELECT * FROM system.errors',
        'SYSTEM SHUTDOWN',
      ];
      for (const sql of refused) expect((await query(sql, reader)).text, sql).to.match(/^Code: (497|164)\./);
      expect((await query('SELECT 1', reader, { max_memory_usage: '3000000000' })).text).to.match(/^Code: 452\./);
    } finally {
      await clickhouse.stop();
    }
  });

  it('Kafka creates topics and keeps records over a stop', async () => {
    const first = await startKafka({ dataDir: folder });
    try {
      expect(await createTopic(clientOf(first.brokers), 'kept')).to.include('kept');
      await produce(clientOf(first.brokers), 'kept', 'hello');
    } finally {
      await first.stop();
    }
    expect(isRunning(first.pid)).to.equal(false);
    const second = await startKafka({ dataDir: folder, ports: first.ports });
    try {
      expect(second.brokers).to.equal(first.brokers);
      expect(await readTopic(clientOf(second.brokers), 'kept', 1)).to.deep.equal(['hello']);
    } finally {
      await second.stop();
    }
  });
});

describe('an instance with embedded engines', function () {
  this.timeout(600_000);
  let instance: Instance;
  let login: Login;
  let kafka: Kafka;

  before(async () => {
    instance = (await Instance.create()).spawn();
    await instance.ready(240_000);
    readAddresses();
  });
  after(() => instance.dispose());

  function readAddresses(): void {
    const start = instance.events('start', 'app').at(-1) ?? {};
    const { LOGWEIR_KAFKA_BROKERS, LOGWEIR_CLICKHOUSE_URL } = start as Record<string, string>;
    const secrets = JSON.parse(readFileSync(path.join(instance.dataDir, 'clickhouse/secrets.json'), 'utf8')) as { password: string };
    login = { url: LOGWEIR_CLICKHOUSE_URL ?? '', user: 'logweir', password: secrets.password };
    kafka = clientOf(LOGWEIR_KAFKA_BROKERS ?? '');
  }
  const restarted = (role: string): Promise<void> => until(() => instance.process(role).restarts > 0, `${role} is started again`);
  const isUp = (): Promise<boolean> =>
    query('SELECT 1', login).then(
      ({ status }) => status === 200,
      () => false,
    );

  it('ClickHouse comes back on its port with its data after a kill', async () => {
    await rows('CREATE TABLE default.kept (a Int32) ENGINE = MergeTree ORDER BY a', login);
    await rows('INSERT INTO default.kept VALUES (7)', login);
    process.kill(instance.process('clickhouse').pid, 'SIGKILL');
    await restarted('clickhouse');
    await until(isUp, 'it answers');
    expect(await rows('SELECT a FROM default.kept', login)).to.equal('7');
  });

  it('Kafka comes back on its port with its data after a kill', async () => {
    await createTopic(kafka, 'kept');
    await produce(kafka, 'kept', 'before');
    process.kill(instance.process('kafka').pid, 'SIGKILL');
    await restarted('kafka');
    await produce(kafka, 'kept', 'after');
    expect(await readTopic(kafka, 'kept', 2)).to.have.members(['before', 'after']);
  });

  it('leaves no process when it is killed, and the next start has the data', async () => {
    const pids = instance.processes().map(({ pid }) => pid);
    expect(pids.filter(isRunning)).to.have.length(7);
    instance.signal('SIGKILL');
    await instance.exited();
    instance.spawn();
    await until(() => !pids.some(isRunning), 'all are gone');
    await instance.ready(240_000);
    readAddresses();
    expect(await rows('SELECT a FROM default.kept', login)).to.equal('7');
    expect(await readTopic(kafka, 'kept', 2)).to.have.members(['before', 'after']);
  });

  it('leaves no process when it is stopped', async () => {
    const pids = instance.processes().map(({ pid }) => pid);
    const at = Date.now();
    instance.signal('SIGTERM');
    expect(await instance.exited()).to.equal(0);
    // before the supervisor would have lost patience
    expect(Date.now() - at).to.be.below(24_000);
    expect(pids.filter(isRunning)).to.deep.equal([]);
  });
});

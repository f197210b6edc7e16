import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { pino } from 'pino';
import { startClickHouse, type ClickHouse } from '../../../compose/embedded/clickhouse.ts';
import { createKafka, type Kafka as KafkaClient } from '../../../pipeline/bus/connection/kafka.ts';
import type { Config, Sasl, Tls } from '../../../pipeline/core/config.ts';
import { sql } from '../../../pipeline/core/sql.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { MECHANISMS, SecureBroker } from '../../engines/secure-broker.ts';
import { Authority, textOf, type Certificate } from '../certificates.ts';
import { startInstance, until, type Instance } from '../instance.ts';

const log = pino({ level: 'silent' });
const ADMIN_TOKEN = 'a token of the test';
const WRONG_PASSWORD = 'not-the-password-of-anybody';
/** Doors that are let in: a topic has the name of its door. */
const GOOD_DOORS: readonly string[] = [...MECHANISMS.map((mechanism) => `door-${mechanism}`), 'door-certificate'];

/** A token without a signature, of this user, from so many seconds ago to the end of its time. */
function tokenOf(user: string, from: number, to: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  return `${part({ alg: 'none' })}.${part({ sub: user, iat: now + from, exp: now + to })}.`;
}

/** TLS before a server that has none, for clients with a certificate of this authority. */
async function tlsBefore(port: number, authority: Authority): Promise<net.Server> {
  const { cert, key } = authority.issue('localhost');
  const options = { cert: textOf(cert), key: textOf(key), ca: textOf(authority.ca), requestCert: true, rejectUnauthorized: true };
  const server = tls.createServer(options, (socket) => {
    const inner = net.connect(port, '127.0.0.1');
    socket.pipe(inner).pipe(socket);
    socket.on('error', () => inner.destroy()).on('close', () => inner.destroy());
    inner.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('engines that are reached over TLS', function () {
  this.timeout(600_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-tls-'));
  const authority = new Authority(path.join(folder, 'trusted'));
  const other = new Authority(path.join(folder, 'other'));
  const client: Certificate = authority.issue('client');
  const ours: Tls = { ca: textOf(authority.ca), cert: textOf(client.cert), key: textOf(client.key) };
  let broker: SecureBroker;
  let clickhouse: ClickHouse;
  let proxy: net.Server;
  let url: string;

  before(async () => {
    [broker, clickhouse] = await Promise.all([SecureBroker.start(folder, authority), startClickHouse({ dataDir: folder })]);
    proxy = await tlsBefore(clickhouse.port, authority);
    url = `https://localhost:${String((proxy.address() as net.AddressInfo).port)}`;
  });
  after(async () => {
    proxy.close();
    await Promise.all([broker.stop(), clickhouse.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  async function topics(sasl: Sasl | undefined, own: Tls | undefined): Promise<string[]> {
    const how = { ...(sasl === undefined ? {} : { sasl }), ...(own === undefined ? {} : { tls: own }) };
    const admin = createKafka({ brokers: [broker.secure], clientId: 'test', log, ...how }).admin({ retry: { retries: 0 } });
    try {
      await admin.connect();
      return await admin.listTopics();
    } finally {
      await admin.disconnect();
    }
  }
  const sasl = (mechanism: (typeof MECHANISMS)[number], password = broker.password): Sasl => ({
    mechanism,
    username: broker.user,
    password,
  });
  const failure = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'it was let in',
      (error: unknown) => String(error),
    );

  for (const mechanism of MECHANISMS) {
    it(`Kafka lets in by ${mechanism}`, async () => expect(await topics(sasl(mechanism), ours)).to.be.an('array'));
    it(`Kafka refuses another password by ${mechanism}`, async () =>
      expect(await failure(topics(sasl(mechanism, 'wrong'), ours))).to.match(/SASL|uthentication/));
  }
  const secret = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  it('Kafka lets in by the token of a file, or of a command', async () => {
    const tokenFile = secret('token', `${tokenOf(broker.user, -10, 600)}\n`);
    expect(await topics({ mechanism: 'oauthbearer', tokenFile }, ours)).to.be.an('array');
    expect(await topics({ mechanism: 'oauthbearer', tokenCommand: `cat '${tokenFile}'` }, ours)).to.be.an('array');
  });
  it('Kafka refuses a token whose time is over', async () => {
    const tokenFile = secret('old-token', tokenOf(broker.user, -1000, -500));
    // kafkajs reports no reason where a broker refuses a token
    expect(await failure(topics({ mechanism: 'oauthbearer', tokenFile }, ours))).not.to.equal('it was let in');
  });
  it('a command that fails, and what is no token, is told without what it printed', async () => {
    const failed = await failure(topics({ mechanism: 'oauthbearer', tokenCommand: 'echo never-told; exit 3' }, ours));
    expect(failed)
      .to.match(/TOKEN_COMMAND failed \(3\)/)
      .and.not.include('never-told');
    const text = await failure(topics({ mechanism: 'oauthbearer', tokenCommand: 'echo never told' }, ours));
    expect(text)
      .to.match(/not have the form/)
      .and.not.include('never told');
  });
  it('Kafka is refused where another authority signed its certificate', async () =>
    expect(await failure(topics(sasl('plain'), { ...ours, ca: textOf(other.ca) }))).to.match(/certificate/));
  it('Kafka refuses a client without a certificate, and one without TLS', async () => {
    expect(await failure(topics(sasl('plain'), { ca: textOf(authority.ca) }))).not.to.equal('it was let in');
    expect(await failure(topics(sasl('scram-sha-512'), undefined))).not.to.equal('it was let in');
  });

  const owner = (): Config['clickhouse'] => ({ ...clickhouse, database: 'default', url, tls: ours });
  const numbers = async (config: Config['clickhouse']): Promise<unknown> => {
    const store = new Store(config);
    try {
      const options = { tenantId: 1, timeoutMs: 10_000 };
      const slowly = { ...options, settings: { wait_end_of_query: 0 } };
      return [await store.ownerRows('SELECT 1'), await store.rows(sql`SELECT 2`, options), await store.rows(sql`SELECT 3`, slowly)];
    } finally {
      await store.close();
    }
  };
  it('ClickHouse is asked with a certificate and the password', async () => {
    expect(await numbers(owner())).to.deep.equal([[[1]], [[2]], [[3]]]);
    expect(await failure(numbers({ ...owner(), password: 'wrong' }))).to.match(/password|uthentication/);
  });
  it('ClickHouse is refused where another authority signed its certificate, and refuses a client without one', async () => {
    expect(await failure(numbers({ ...owner(), tls: { ...ours, ca: textOf(other.ca) } }))).to.match(/certificate/);
    expect(await failure(numbers({ ...owner(), tls: { ca: textOf(authority.ca) } }))).not.to.equal('it was let in');
  });

  describe('with doors', () => {
    let instance: Instance;
    let users: KafkaClient;
    before(async () => {
      users = createKafka({ brokers: [broker.plain], clientId: 'test', log });
      const admin = users.admin();
      await admin.connect();
      await admin.createTopics({ topics: GOOD_DOORS.map((name) => ({ topic: name })) });
      await admin.disconnect();
      instance = await startInstance({
        env: {
          LOGWEIR_KAFKA_BROKERS: broker.secure,
          LOGWEIR_KAFKA_TLS: 'true',
          LOGWEIR_KAFKA_CA_FILE: authority.ca,
          LOGWEIR_KAFKA_CERT_FILE: client.cert,
          LOGWEIR_KAFKA_KEY_FILE: client.key,
          LOGWEIR_KAFKA_SASL_MECHANISM: 'scram-sha-512',
          LOGWEIR_KAFKA_SASL_USERNAME: broker.user,
          LOGWEIR_KAFKA_SASL_PASSWORD_FILE: secret('kafka-password', `${broker.password}\n`),
          LOGWEIR_CLICKHOUSE_URL: url,
          LOGWEIR_CLICKHOUSE_CA_FILE: authority.ca,
          LOGWEIR_CLICKHOUSE_CERT_FILE: client.cert,
          LOGWEIR_CLICKHOUSE_KEY_FILE: client.key,
          LOGWEIR_CLICKHOUSE_USER: clickhouse.user,
          LOGWEIR_CLICKHOUSE_PASSWORD_FILE: secret('owner-password', clickhouse.password),
          LOGWEIR_CLICKHOUSE_READER_USER: clickhouse.readerUser,
          LOGWEIR_CLICKHOUSE_READER_PASSWORD_FILE: secret('reader-password', clickhouse.readerPassword),
          LOGWEIR_KEY_PEPPER_FILE: secret('pepper', 'a pepper of the test'),
          LOGWEIR_ADMIN_TOKEN_FILE: secret('admin', ADMIN_TOKEN),
          LOGWEIR_DOORS: doorsFile(),
        },
      });
    });
    after(() => instance.stop());

    it('an instance stores entries and finds them', async () => {
      const entries = Array.from({ length: 500 }, (_, n) => ({ _msg: `over TLS ${String(n)}` }));
      // storing the first ones takes a second
      for (let sent = 500; sent <= 1000; sent += 500) {
        // the log guard's first report may be late
        const send = (): ReturnType<Instance['call']> => instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries);
        const { status, body } = await until('an answer', send, (answer) => answer.status !== 429);
        expect(status, JSON.stringify(body)).to.be.below(300);
        await until(
          'the entries',
          () => instance.count('"over TLS"'),
          (count) => count === sent,
        );
      }
      const { status } = await instance.call('GET', `${instance.admin}/ready`);
      expect(status).to.equal(200);
    });

    it('topics are pulled by doors with each mechanism, and by a certificate alone', async () => {
      const producer = users.producer();
      await producer.connect();
      for (const topic of GOOD_DOORS)
        await producer.send({ topic, messages: [{ value: JSON.stringify({ _msg: `by ${topic}`, service: 'tls-door' }) }] });
      await producer.disconnect();
      await until(
        'an entry of each topic',
        () => instance.count('service:="tls-door"'),
        (count) => count >= GOOD_DOORS.length,
      );
      for (const topic of GOOD_DOORS) expect(await instance.count(`"by ${topic}"`), topic).to.equal(1);
    });

    it('a door that is not let in, or trusts another authority, says why, without secrets', async () => {
      const warnings = async (): Promise<string> => {
        const { body } = await instance.call('GET', `${instance.admin}/ready`, undefined, { Authorization: `Bearer ${ADMIN_TOKEN}` });
        return (body as { readonly warnings: string[] }).warnings.join('\n');
      };
      const why = (door: string, reason: string): RegExp =>
        new RegExp(`The door ${door} does not read the topic nothing: it could not join its group at localhost:\\d+ \\([^\\n]*${reason}`);
      const reasons = [
        why('wrong-password', 'SASL SCRAM SHA512 authentication failed'),
        why('wrong-plain', 'SASL PLAIN authentication failed'),
        why('unknown-ca', 'certificate'),
        why('no-certificate', ''),
      ];
      const told = await until('the reasons', warnings, (text) => reasons.every((reason) => reason.test(text)));
      for (const name of GOOD_DOORS) expect(told).to.not.include(`The door ${name} `);
      const logs = path.join(instance.dataDir, 'logs');
      const all = [told, ...readdirSync(logs).map((name) => readFileSync(path.join(logs, name), 'utf8'))].join('\n');
      expect(all).to.match(/unable to verify|self-signed|unable to get/);
      for (const one of [WRONG_PASSWORD, broker.password, textOf(client.key).trim().split('\n')[1] ?? '']) {
        expect(one).to.not.equal('');
        expect(all.includes(one), `${one.slice(0, 8)}… in the logs`).to.equal(false);
      }
    });
  });

  /** Doors that pull a topic of their name each, and such as cannot. */
  function doorsFile(): string {
    secret('web.key', 'e2e-key_0123456789\n');
    secret('wrong', `${WRONG_PASSWORD}\n`);
    const tls = { ca_file: authority.ca, cert_file: client.cert, key_file: client.key };
    const login = (mechanism: string, passwordFile = 'kafka-password'): object => ({
      mechanism,
      username: broker.user,
      password_file: passwordFile,
    });
    const pulled = (name: string, more: object): object => ({
      ...{ name, kind: 'kafka', brokers: [broker.secure], key_file: 'web.key', format: 'json', tls },
      topics: [GOOD_DOORS.includes(name) ? name : 'nothing'],
      ...more,
    });
    const doors = [
      ...MECHANISMS.map((mechanism) => pulled(`door-${mechanism}`, { sasl: login(mechanism) })),
      pulled('door-certificate', { brokers: [broker.certified] }),
      pulled('wrong-password', { sasl: login('scram-sha-512', 'wrong') }),
      pulled('wrong-plain', { sasl: login('plain', 'wrong') }),
      pulled('unknown-ca', { sasl: login('plain'), tls: { ...tls, ca_file: other.ca } }),
      pulled('no-certificate', { brokers: [broker.certified], tls: { ca_file: authority.ca } }),
    ];
    return secret('doors.json', JSON.stringify({ doors }));
  }
});

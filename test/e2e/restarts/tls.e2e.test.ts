import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { startClickHouse, type ClickHouse } from '../../../compose/embedded/clickhouse.ts';
import { prepareKafka } from '../../../compose/embedded/kafka-jars.ts';
import { startKafka, type Kafka } from '../../../compose/embedded/kafka.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import type { Config, Sasl, Tls } from '../../../pipeline/core/config.ts';
import { sql } from '../../../pipeline/core/sql.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { freePorts } from '../../free-ports.ts';
import { Authority, textOf, type Certificate } from '../certificates.ts';
import { startInstance, until, type Instance } from '../instance.ts';

const USER = 'shipper';
const PASSWORD = 'secret-of-the-test';
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const log = pino({ level: 'silent' });

/** A broker's listener SECURE: TLS with certificates on both sides, and SASL. */
function secureListener([port, controllerPort, secure]: readonly number[], folder: string, authority: Authority): Record<string, string> {
  const { cert, key } = authority.issue('localhost');
  const keystore = path.join(folder, 'keystore.pem');
  writeFileSync(keystore, textOf(key) + textOf(cert));
  const local = `PLAINTEXT://127.0.0.1:${String(port)}`;
  const own = 'listener.name.secure';
  return {
    listeners: `${local},CONTROLLER://127.0.0.1:${String(controllerPort)},SECURE://127.0.0.1:${String(secure)}`,
    'advertised.listeners': `${local},SECURE://localhost:${String(secure)}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL',
    [`${own}.ssl.keystore.type`]: 'PEM',
    [`${own}.ssl.keystore.location`]: keystore,
    [`${own}.ssl.truststore.type`]: 'PEM',
    [`${own}.ssl.truststore.location`]: authority.ca,
    [`${own}.ssl.client.auth`]: 'required',
    [`${own}.sasl.enabled.mechanisms`]: [...MECHANISMS, 'oauthbearer'].map((name) => name.toUpperCase()).join(','),
    [`${own}.plain.sasl.jaas.config`]: `org.apache.kafka.common.security.plain.PlainLoginModule required user_${USER}="${PASSWORD}";`,
    [`${own}.scram-sha-256.sasl.jaas.config`]: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    [`${own}.scram-sha-512.sasl.jaas.config`]: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    // without keys to check signatures with, a broker takes tokens that have none; their form, times and user it checks
    [`${own}.oauthbearer.sasl.jaas.config`]: 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;',
    // clients say again who they are 10 s before the end of a session: after a second
    [`${own}.connections.max.reauth.ms`]: '11000',
  };
}

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
  let broker: Kafka;
  let brokers: readonly string[];
  let clickhouse: ClickHouse;
  let proxy: net.Server;
  let url: string;

  before(async () => {
    const ports = await freePorts(3);
    const [port, controllerPort, secure] = ports as [number, number, number];
    const settings = secureListener(ports, folder, authority);
    [broker, clickhouse] = await Promise.all([
      startKafka({ dataDir: folder, ports: [port, controllerPort], settings }),
      startClickHouse({ dataDir: folder }),
    ]);
    brokers = [`localhost:${String(secure)}`];
    const { java, classpath } = await prepareKafka({ log: () => undefined });
    const tool = ['-cp', classpath, 'kafka.admin.ConfigCommand', '--bootstrap-server', broker.brokers];
    for (const bits of ['256', '512']) {
      const added = ['--add-config', `SCRAM-SHA-${bits}=[password=${PASSWORD}]`];
      await promisify(execFile)(java, [...tool, '--alter', '--entity-type', 'users', '--entity-name', USER, ...added]);
    }
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
    const admin = createKafka({ brokers, clientId: 'test', log, ...how }).admin({ retry: { retries: 0 } });
    try {
      await admin.connect();
      return await admin.listTopics();
    } finally {
      await admin.disconnect();
    }
  }
  const sasl = (mechanism: (typeof MECHANISMS)[number], password = PASSWORD): Sasl => ({ mechanism, username: USER, password });
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
    const tokenFile = secret('token', `${tokenOf(USER, -10, 600)}\n`);
    expect(await topics({ mechanism: 'oauthbearer', tokenFile }, ours)).to.be.an('array');
    expect(await topics({ mechanism: 'oauthbearer', tokenCommand: `cat '${tokenFile}'` }, ours)).to.be.an('array');
  });
  it('Kafka refuses a token whose time is over', async () => {
    const tokenFile = secret('old-token', tokenOf(USER, -1000, -500));
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

  it('an instance stores entries and finds them', async () => {
    const instance = await startInstance({
      env: {
        LOGWEIR_KAFKA_BROKERS: brokers.join(','),
        LOGWEIR_KAFKA_TLS: 'true',
        LOGWEIR_KAFKA_CA_FILE: authority.ca,
        LOGWEIR_KAFKA_CERT_FILE: client.cert,
        LOGWEIR_KAFKA_KEY_FILE: client.key,
        LOGWEIR_KAFKA_SASL_MECHANISM: 'scram-sha-512',
        LOGWEIR_KAFKA_SASL_USERNAME: USER,
        LOGWEIR_KAFKA_SASL_PASSWORD_FILE: secret('kafka-password', `${PASSWORD}\n`),
        LOGWEIR_CLICKHOUSE_URL: url,
        LOGWEIR_CLICKHOUSE_CA_FILE: authority.ca,
        LOGWEIR_CLICKHOUSE_CERT_FILE: client.cert,
        LOGWEIR_CLICKHOUSE_KEY_FILE: client.key,
        LOGWEIR_CLICKHOUSE_USER: clickhouse.user,
        LOGWEIR_CLICKHOUSE_PASSWORD_FILE: secret('owner-password', clickhouse.password),
        LOGWEIR_CLICKHOUSE_READER_USER: clickhouse.readerUser,
        LOGWEIR_CLICKHOUSE_READER_PASSWORD_FILE: secret('reader-password', clickhouse.readerPassword),
        LOGWEIR_KEY_PEPPER_FILE: secret('pepper', 'a pepper of the test'),
        LOGWEIR_ADMIN_TOKEN_FILE: secret('admin', 'a token of the test'),
      },
    });
    try {
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
    } finally {
      await instance.stop();
    }
  });
});

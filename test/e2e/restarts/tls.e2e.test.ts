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
import { startInstance, until } from '../instance.ts';

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
    [`${own}.sasl.enabled.mechanisms`]: MECHANISMS.map((name) => name.toUpperCase()).join(','),
    [`${own}.plain.sasl.jaas.config`]: `org.apache.kafka.common.security.plain.PlainLoginModule required user_${USER}="${PASSWORD}";`,
    [`${own}.scram-sha-256.sasl.jaas.config`]: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    [`${own}.scram-sha-512.sasl.jaas.config`]: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    // clients say again who they are 10 s before the end of a session: after a second
    [`${own}.connections.max.reauth.ms`]: '11000',
  };
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
  const sasl = (mechanism: Sasl['mechanism'], password = PASSWORD): Sasl => ({ mechanism, username: USER, password });
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
        LOGWEIR_KAFKA_SASL_PASSWORD: PASSWORD,
        LOGWEIR_CLICKHOUSE_URL: url,
        LOGWEIR_CLICKHOUSE_CA_FILE: authority.ca,
        LOGWEIR_CLICKHOUSE_CERT_FILE: client.cert,
        LOGWEIR_CLICKHOUSE_KEY_FILE: client.key,
        LOGWEIR_CLICKHOUSE_USER: clickhouse.user,
        LOGWEIR_CLICKHOUSE_PASSWORD: clickhouse.password,
        LOGWEIR_CLICKHOUSE_READER_USER: clickhouse.readerUser,
        LOGWEIR_CLICKHOUSE_READER_PASSWORD: clickhouse.readerPassword,
      },
    });
    try {
      const entries = Array.from({ length: 500 }, (_, n) => ({ _msg: `over TLS ${String(n)}` }));
      // storing the first ones takes a second
      for (let sent = 500; sent <= 1000; sent += 500) {
        const { status, body } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries);
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

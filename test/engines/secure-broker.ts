import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { prepareKafka } from '../../compose/embedded/kafka-jars.ts';
import { startKafka, type Kafka } from '../../compose/embedded/kafka.ts';
import { textOf, type Authority } from '../e2e/certificates.ts';
import { freePorts } from '../free-ports.ts';

/** How the user may log in. */
export const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

const USER = 'shipper';
const PASSWORD = 'secret-of-the-test';

/**
 * A broker with listeners for clients that have a certificate of an authority: one where they log in by SASL too, one where the certificate is all.
 * Its listener without TLS is for the test.
 */
export class SecureBroker {
  readonly user = USER;
  readonly password = PASSWORD;
  readonly #kafka: Kafka;
  readonly #ports: readonly number[];

  private constructor(kafka: Kafka, ports: readonly number[]) {
    this.#kafka = kafka;
    this.#ports = ports;
  }

  static async start(folder: string, authority: Authority): Promise<SecureBroker> {
    const ports = await freePorts(4);
    const [port = 0, controllerPort = 0] = ports;
    const settings = listenersOf(ports, folder, authority);
    const broker = new SecureBroker(await startKafka({ dataDir: folder, ports: [port, controllerPort], settings }), ports);
    await broker.#addUser();
    return broker;
  }

  /** `HOST:PORT` of the listener with certificates and SASL. */
  get secure(): string {
    return `localhost:${String(this.#ports[2])}`;
  }

  /** Of the one with certificates alone. */
  get certified(): string {
    return `localhost:${String(this.#ports[3])}`;
  }

  /** Of the one without TLS. */
  get plain(): string {
    return this.#kafka.brokers;
  }

  stop(): Promise<void> {
    return this.#kafka.stop();
  }

  async #addUser(): Promise<void> {
    const { java, classpath } = await prepareKafka({ log: () => undefined });
    const tool = ['-cp', classpath, 'kafka.admin.ConfigCommand', '--bootstrap-server', this.plain];
    for (const bits of ['256', '512']) {
      const added = ['--add-config', `SCRAM-SHA-${bits}=[password=${this.password}]`];
      await promisify(execFile)(java, [...tool, '--alter', '--entity-type', 'users', '--entity-name', this.user, ...added]);
    }
  }
}

function listenersOf(
  [port, controllerPort, secure, certified]: readonly number[],
  folder: string,
  authority: Authority,
): Record<string, string> {
  const { cert, key } = authority.issue('localhost');
  const keystore = path.join(folder, 'keystore.pem');
  writeFileSync(keystore, textOf(key) + textOf(cert));
  const local = `PLAINTEXT://127.0.0.1:${String(port)}`;
  const tls = (name: string): Record<string, string> => ({
    [`listener.name.${name}.ssl.keystore.type`]: 'PEM',
    [`listener.name.${name}.ssl.keystore.location`]: keystore,
    [`listener.name.${name}.ssl.truststore.type`]: 'PEM',
    [`listener.name.${name}.ssl.truststore.location`]: authority.ca,
    [`listener.name.${name}.ssl.client.auth`]: 'required',
  });
  const own = 'listener.name.secure';
  const all = `SECURE://localhost:${String(secure)},CERTIFIED://localhost:${String(certified)}`;
  return {
    listeners: `${local},CONTROLLER://127.0.0.1:${String(controllerPort)},${all.replaceAll('localhost', '127.0.0.1')}`,
    'advertised.listeners': `${local},${all}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,CERTIFIED:SSL',
    ...tls('secure'),
    ...tls('certified'),
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

import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { notification } from '../../../../main/last-log-line.ts';
import { freePorts } from '../../../free-ports.ts';
import { LogsqlStore } from '../../logsql-store.ts';

const SETUP = path.resolve(import.meta.dirname, '../../../../dist/main/setup.js');

describe('a setup that cannot reach what it needs', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let closed: string;
  /** Accepts connections and says nothing of Kafka or HTTP. */
  let other: net.Server;
  before(async () => {
    own = await LogsqlStore.start();
    closed = `127.0.0.1:${String((await freePorts(1))[0])}`;
    other = net.createServer((socket) => void socket.on('error', () => undefined).end('220 mail.example ESMTP\r\n'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    other.close();
    await own.stop();
  });

  /** What the supervisor would show. */
  async function said(env: Readonly<Record<string, string>>): Promise<string> {
    const { url, user, password, database, readerUser, readerPassword } = own.config;
    const settings = {
      ...{ LOGWEIR_CLICKHOUSE_URL: url, LOGWEIR_CLICKHOUSE_USER: user, LOGWEIR_CLICKHOUSE_PASSWORD: password },
      ...{ LOGWEIR_CLICKHOUSE_DATABASE: database, LOGWEIR_KAFKA_BROKERS: closed },
      ...{ LOGWEIR_CLICKHOUSE_READER_USER: readerUser, LOGWEIR_CLICKHOUSE_READER_PASSWORD: readerPassword },
      LOGWEIR_KEY_PEPPER: 'x'.repeat(32),
    };
    const child = spawn(process.execPath, [SETUP], { env: { ...process.env, ...settings, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[code: number | null]>;
    const complaint = await text(child.stderr);
    expect((await ended)[0], complaint).to.equal(1);
    return notification(complaint);
  }
  const mail = (): string => `127.0.0.1:${String((other.address() as AddressInfo).port)}`;

  it('says where Kafka was looked for, how, and what was wrong', async () => {
    expect(await said({})).to.equal(
      `Kafka cannot be used at ${closed} (LOGWEIR_KAFKA_BROKERS), without TLS, without a user: the connection was refused: nothing listens there.`,
    );
    const withUser = { LOGWEIR_KAFKA_SASL_MECHANISM: 'plain', LOGWEIR_KAFKA_SASL_USERNAME: 'me', LOGWEIR_KAFKA_SASL_PASSWORD: 'secret' };
    const sentence = await said({ ...withUser, LOGWEIR_KAFKA_TLS: 'true', LOGWEIR_KAFKA_BROKERS: mail() });
    expect(sentence).to.match(/over TLS, as me \(plain\): it does not speak TLS there/);
    expect(sentence).not.to.contain('secret');
  });

  const clickHouse: readonly (readonly [about: string, env: () => Readonly<Record<string, string>>, sentence: RegExp])[] = [
    ['a port where nothing listens', () => ({ LOGWEIR_CLICKHOUSE_URL: `http://${closed}` }), /^ClickHouse cannot be used at http:\/\/127.* \(LOGWEIR_CLICKHOUSE_URL\) as \w+: the connection was refused/],
    ['a name that is none', () => ({ LOGWEIR_CLICKHOUSE_URL: 'http://clickhouse.invalid:8123' }), /at http:\/\/clickhouse\.invalid:8123 .*: the name cannot be resolved/],
    ['a wrong password', () => ({ LOGWEIR_CLICKHOUSE_PASSWORD: 'wrong' }), /does not know the user, or the password is another \(LOGWEIR_CLICKHOUSE_USER, LOGWEIR_CLICKHOUSE_PASSWORD\)/],
    ['a user that is not there', () => ({ LOGWEIR_CLICKHOUSE_USER: 'somebody' }), /as somebody: it does not know the user/],
    ['TLS where there is none', () => ({ LOGWEIR_CLICKHOUSE_URL: `https://${own.config.url.slice(7)}` }), /at https:.*: it does not speak TLS there|the connection was closed/],
    ['a user without rights', () => ({ LOGWEIR_CLICKHOUSE_USER: own.config.readerUser, LOGWEIR_CLICKHOUSE_PASSWORD: own.config.readerPassword, LOGWEIR_CLICKHOUSE_READER_USER: '', LOGWEIR_CLICKHOUSE_READER_PASSWORD: '', LOGWEIR_CLICKHOUSE_DATABASE: 'elsewhere' }), /as reader: the user lacks a right \(docs\/operations\.md, ClickHouse users\): .*CREATE DATABASE/],
  ]; // prettier-ignore
  for (const [about, env, sentence] of clickHouse)
    it(`says what is wrong with ClickHouse: ${about}`, async () => {
      // Kafka is slower to be given up
      expect(await said({ LOGWEIR_KAFKA_BROKERS: mail(), ...env() })).to.match(sentence);
    });
});

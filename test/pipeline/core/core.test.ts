import { expect } from 'chai';
import fc from 'fast-check';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { withVariables } from '../../../pipeline/core/config-files.ts';
import { loadConfig } from '../../../pipeline/core/config.ts';
import { Literal, renderEntry } from '../../../pipeline/core/entry.ts';
import { parseEntry } from '../../../cli/json-entry.ts';
import { parseStream, renderStream } from '../../../pipeline/core/labels.ts';
import { registry } from '../../../pipeline/core/registry.ts';
import { startAll, stopAll, together, type Service } from '../../../pipeline/core/service.ts';
import { conjunction, join, numberSet, ofTenant, renderSql, sql, text, uint32 } from '../../../pipeline/core/sql.ts';

describe('labels', () => {
  it('are sorted, escaped, and without empty ones', () => {
    expect(
      renderStream([
        ['host', 'h"1'],
        ['app', 'web'],
        ['none', ''],
        ['a b', 'c'],
      ]),
    ).to.equal('{"a b"="c",app="web",host="h\\"1"}');
    expect(renderStream([])).to.equal('{}');
  });
  it('are read as they were written', () => {
    const label = fc.tuple(fc.string({ minLength: 1, unit: 'binary' }), fc.string({ minLength: 1, unit: 'binary' }));
    fc.assert(
      fc.property(fc.uniqueArray(label, { selector: ([name]) => name }), (labels) => {
        expect(Object.fromEntries(parseStream(renderStream(labels)))).to.deep.equal(Object.fromEntries(labels));
      }),
    );
  });
  for (const bad of ['', '{', 'app="x"', '{app=x}', '{app="x" host="y"}', '{app="x"'])
    it(`refuses ${bad}`, () => expect(() => parseStream(bad)).to.throw());
});

describe('entries as JSON', () => {
  it('keep every digit and leave out what is empty', () => {
    const json = renderEntry(
      new Map<string, string | Literal>([
        ['_msg', 'a"b'],
        ['n', new Literal('18446744073709551615')],
        ['empty', ''],
      ]),
    );
    expect(json).to.equal('{"_msg":"a\\"b","n":18446744073709551615}');
    expect(renderEntry(parseEntry(json))).to.equal(json);
  });
});

describe('sql', () => {
  it('binds every value and joins pieces', () => {
    const condition = join([sql`a = ${text("x' OR 1=1 --")}`, sql`b > ${uint32(5)}`], sql` AND `);
    const { text: statement, params } = renderSql(sql`SELECT 1 WHERE ${condition} LIMIT ${uint32(7)}`);
    expect(statement).to.equal('SELECT 1 WHERE a = {p0:String} AND b > {p1:UInt32} LIMIT {p2:UInt32}');
    expect([...params.values()].map(({ value }) => value)).to.deep.equal(["x' OR 1=1 --", 5, 7]);
  });
});

describe('what statements have in common', () => {
  it('is bound as any value is', () => {
    const { text: statement, params } = renderSql(conjunction([ofTenant(7), sql`id IN ${numberSet(['18446744073709551615'])}`]));
    expect(statement).to.equal('tenant_id = {p0:UInt32} AND id IN (SELECT toUInt64(arrayJoin({p1:Array(String)})))');
    expect([...params.values()].map(({ value }) => value)).to.deep.equal([7, ['18446744073709551615']]);
  });

  it('is written once: the condition of a tenant, and sets of numbers', () => {
    const root = path.resolve(import.meta.dirname, '../../..');
    const others = globSync('{api,logsql,pipeline,sinks,main}/**/*.ts', { cwd: root }).filter((file) => file !== 'pipeline/core/sql.ts');
    const again = others.filter((file) => /tenant_id = \$\{|toUInt64\(arrayJoin\(/.test(readFileSync(path.join(root, file), 'utf8')));
    expect(again).to.deep.equal([]);
  });
});

describe('registry', () => {
  it('finds by every name, and refuses a name twice', () => {
    const names = registry((member: { names: string[] }) => member.names, [{ names: ['a', 'b'] }, { names: ['c'] }]);
    expect(names.find('b')).to.equal(names.members[0]);
    expect(names.find('x')).to.equal(undefined);
    expect(() => registry((member: string) => [member], ['a', 'a'])).to.throw(/BUG/);
  });
});

describe('services', () => {
  const log: string[] = [];
  const service = (name: string, fails = false): Service => ({
    name,
    start: () => (fails ? Promise.reject(new Error('no')) : Promise.resolve(void log.push(`start ${name}`))),
    stop: () => Promise.resolve(void log.push(`stop ${name}`)),
  });
  beforeEach(() => void log.splice(0));
  it('stop in reverse order', async () => {
    await startAll([service('a'), service('b')]);
    await stopAll([service('a'), service('b')]);
    expect(log).to.deep.equal(['start a', 'start b', 'stop b', 'stop a']);
  });
  it('that started are stopped when a later one fails', async () => {
    const error = await startAll([service('a'), service('b', true), service('c')]).then(
      () => null,
      (reason: unknown) => reason as Error,
    );
    expect(error?.message).to.equal('b did not start.');
    expect(log).to.deep.equal(['start a', 'stop a']);
  });
  it('that do not need each other start and stop at the same time', async () => {
    const pair = together('both', [service('a'), service('b')]);
    await pair.start();
    await pair.stop();
    expect(log).to.deep.equal(['start a', 'start b', 'stop a', 'stop b']);
  });
  it('that do not need each other are all stopped when one of them fails, for its reason', async () => {
    const error = await startAll([service('a'), together('three', [service('b'), service('c', true), service('d')])]).then(
      () => null,
      (reason: unknown) => reason as Error,
    );
    expect(error?.message).to.equal('three did not start.');
    expect((error?.cause as Error | undefined)?.message).to.equal('no');
    expect(log)
      .to.include.members(['stop b', 'stop d'])
      .and.satisfy((lines: readonly string[]) => lines.at(-1) === 'stop a');
  });
});

describe('configuration', () => {
  it('has the documented defaults', () => {
    const config = loadConfig({ PATH: '/bin', LOGWEIR_SHARED: 'x', LOGWEIR_API_KEY: 'k' });
    expect(config.http).to.deep.include({ host: '127.0.0.1', appPort: 8080, ingestPort: 8081, adminPort: 8082, maxBodyBytes: 2_097_152 });
    expect(config.limits.platformEntriesPerSecond).to.equal(50_000);
    expect(Object.isFrozen(config.http)).to.equal(true);
  });
  it('names all faults at once, unknown names among them', () => {
    expect(() => loadConfig({ LOGWEIR_APP_PORT: 'many', LOGWEIR_COLOUR: 'red', LOGWEIR_BOOTSTRAP_KEY: 'a b' })).to.throw(
      /LOGWEIR_APP_PORT.*LOGWEIR_BOOTSTRAP_KEY.*LOGWEIR_COLOUR|LOGWEIR_APP_PORT[^]*LOGWEIR_COLOUR/,
    );
  });
  describe('TLS and SASL', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-config-'));
    const file = (name: string, text: string): string => {
      writeFileSync(path.join(folder, name), text);
      return path.join(folder, name);
    };
    const pem = (name: string): string => file(name, `-----BEGIN ${name}-----`);
    const KAFKA = { LOGWEIR_KAFKA_BROKERS: 'a:1' };
    const TLS = { ...KAFKA, LOGWEIR_KAFKA_TLS: 'true' };
    const USER = { LOGWEIR_KAFKA_SASL_USERNAME: 'u', LOGWEIR_KAFKA_SASL_PASSWORD: 'never-told' };
    const HTTPS = { LOGWEIR_CLICKHOUSE_URL: 'https://store:8443' };
    after(() => {
      rmSync(folder, { recursive: true });
    });

    const ok = (name: string, env: Readonly<Record<string, string>>, engine: 'kafka' | 'clickhouse', part: object): void => {
      it(name, () => expect(loadConfig(env)[engine]).to.deep.include(part));
    };
    const bad = (name: string, env: Readonly<Record<string, string>>, message: RegExp): void => {
      it(`${name} is a fault`, () =>
        expect(() => loadConfig(env))
          .to.throw(message)
          .with.property('message')
          .that.does.not.contain('never-told'));
    };
    ok("Kafka: the system's authorities", TLS, 'kafka', { tls: {} });
    ok(
      'Kafka: files and a user',
      {
        ...{ ...TLS, ...USER, LOGWEIR_KAFKA_SASL_MECHANISM: 'plain', LOGWEIR_KAFKA_CA_FILE: pem('ca') },
        ...{ LOGWEIR_KAFKA_CERT_FILE: pem('cert'), LOGWEIR_KAFKA_KEY_FILE: pem('key') },
      },
      'kafka',
      {
        tls: { ca: '-----BEGIN ca-----', cert: '-----BEGIN cert-----', key: '-----BEGIN key-----' },
        sasl: { mechanism: 'plain', username: 'u', password: 'never-told' },
      },
    );
    ok('Kafka: SCRAM without TLS', { ...KAFKA, ...USER, LOGWEIR_KAFKA_SASL_MECHANISM: 'scram-sha-256' }, 'kafka', {
      sasl: { mechanism: 'scram-sha-256', username: 'u', password: 'never-told' },
    });
    ok('ClickHouse: an https URL', { ...HTTPS, LOGWEIR_CLICKHOUSE_CA_FILE: pem('ca') }, 'clickhouse', {
      tls: { ca: '-----BEGIN ca-----' },
    });
    it('neither by itself', () => {
      expect(loadConfig(KAFKA).kafka).not.to.have.any.keys('tls', 'sasl');
      expect(loadConfig({ LOGWEIR_CLICKHOUSE_URL: 'http://store:8123' }).clickhouse).not.to.have.property('tls');
    });
    bad(
      'a file that is not there',
      { ...TLS, LOGWEIR_KAFKA_CA_FILE: path.join(folder, 'none') },
      /LOGWEIR_KAFKA_CA_FILE: \S+none cannot be read \(ENOENT\)/,
    );
    bad(
      'a file that is not in PEM',
      { ...HTTPS, LOGWEIR_CLICKHOUSE_CA_FILE: file('der', '0') },
      /LOGWEIR_CLICKHOUSE_CA_FILE: \S+der is not in PEM/,
    );
    bad(
      'a certificate without its key',
      { ...TLS, LOGWEIR_KAFKA_CERT_FILE: pem('cert') },
      /CERT_FILE and LOGWEIR_KAFKA_KEY_FILE must be given together/,
    );
    bad('a file without TLS', { ...KAFKA, LOGWEIR_KAFKA_CA_FILE: pem('ca') }, /need LOGWEIR_KAFKA_TLS=true/);
    bad('a file for an http URL', { LOGWEIR_CLICKHOUSE_URL: 'http://a', LOGWEIR_CLICKHOUSE_CA_FILE: pem('ca') }, /begins with https:/);
    bad('TLS to the embedded Kafka', { LOGWEIR_KAFKA_TLS: 'true' }, /LOGWEIR_KAFKA_BROKERS, which is not set/);
    bad('a mechanism without a user', { ...TLS, LOGWEIR_KAFKA_SASL_MECHANISM: 'plain' }, /must be given together/);
    bad('a user without a mechanism', { ...TLS, ...USER }, /must be given together/);
    bad('plain without TLS', { ...KAFKA, ...USER, LOGWEIR_KAFKA_SASL_MECHANISM: 'plain' }, /=plain needs LOGWEIR_KAFKA_TLS=true/);
    const TOKEN = { LOGWEIR_KAFKA_SASL_MECHANISM: 'oauthbearer', LOGWEIR_KAFKA_SASL_TOKEN_FILE: '/token' };
    ok('Kafka: a token', { ...TLS, ...TOKEN }, 'kafka', { sasl: { mechanism: 'oauthbearer', tokenFile: '/token' } });
    bad('a token without TLS', { ...KAFKA, ...TOKEN }, /=oauthbearer needs LOGWEIR_KAFKA_TLS=true/);
    bad('a token and a user', { ...TLS, ...USER, ...TOKEN }, /USERNAME and LOGWEIR_KAFKA_SASL_PASSWORD must be given together/);
    bad('a token from two places', { ...TLS, ...TOKEN, LOGWEIR_KAFKA_SASL_TOKEN_COMMAND: 'x' }, /exclude each other/);
    bad('oauthbearer without a token', { ...TLS, LOGWEIR_KAFKA_SASL_MECHANISM: 'oauthbearer' }, /must be given together/);
    bad('a token without its mechanism', { ...TLS, LOGWEIR_KAFKA_SASL_TOKEN_FILE: '/token' }, /must be given together/);
    ok('replicas', { ...KAFKA, LOGWEIR_KAFKA_REPLICATION: '3', LOGWEIR_KAFKA_MIN_IN_SYNC: '2' }, 'kafka', { replication: 3, minInSync: 2 });
    bad(
      'more in sync than replicas',
      { ...KAFKA, LOGWEIR_KAFKA_REPLICATION: '2', LOGWEIR_KAFKA_MIN_IN_SYNC: '3' },
      /Kafka would take no record/,
    );

    const PEPPER = 'LOGWEIR_KEY_PEPPER';
    it('a secret may lie in a file, of which a last line break does not count', () => {
      expect(loadConfig({ [`${PEPPER}_FILE`]: file('pepper', 'sixteen or more \n') }).keys.pepper).to.equal('sixteen or more ');
      const names = ['ADMIN_TOKEN', 'CLICKHOUSE_PASSWORD', 'CLICKHOUSE_READER_PASSWORD', 'KEY_PEPPER', 'BOOTSTRAP_KEY'];
      const env = Object.fromEntries(names.map((name) => [`LOGWEIR_${name}_FILE`, file(name, `secret_of_${name}\r\n`)]));
      const { keys, clickhouse } = loadConfig({ ...env, LOGWEIR_CLICKHOUSE_READER_USER: 'r' });
      expect([keys.adminToken, clickhouse.password, clickhouse.readerPassword, keys.pepper, keys.bootstrapKey]).to.deep.equal(
        names.map((name) => `secret_of_${name}`),
      );
    });
    bad('a secret twice', { [PEPPER]: 'sixteen_or_more_', [`${PEPPER}_FILE`]: file('twice', 'never-told-sixteen') }, /exclude each other/);
    bad(
      'a secret in a file that is not there',
      { [`${PEPPER}_FILE`]: path.join(folder, 'none') },
      /KEY_PEPPER_FILE: \S+none cannot be read \(ENOENT\)/,
    );
    bad('an empty file of a secret', { [`${PEPPER}_FILE`]: file('empty', '\n') }, /is empty/);
    bad('a folder as the file of a secret', { [`${PEPPER}_FILE`]: folder }, /is not a file/);
    bad('a huge file of a secret', { [`${PEPPER}_FILE`]: file('huge', 'never-told'.repeat(7000)) }, /more than 65536 bytes/);
    bad('a short secret in a file', { [`${PEPPER}_FILE`]: file('short', 'never-told') }, /LOGWEIR_KEY_PEPPER.*16 characters/);
    it('what a program knows itself replaces the file of it', () =>
      expect(
        withVariables(
          { [`${PEPPER}_FILE`]: '/a', LOGWEIR_AI_KEY_FILE: '/b', LOGWEIR_KAFKA_CA_FILE: '/c' },
          { [PEPPER]: 'p', LOGWEIR_KAFKA_CA: 'x' },
        ),
      ).to.deep.equal({ LOGWEIR_AI_KEY_FILE: '/b', LOGWEIR_KAFKA_CA_FILE: '/c', [PEPPER]: 'p', LOGWEIR_KAFKA_CA: 'x' }));
    bad('another mechanism', { ...TLS, ...USER, LOGWEIR_KAFKA_SASL_MECHANISM: 'gssapi' }, /LOGWEIR_KAFKA_SASL_MECHANISM/);
  });
  for (const name of ['LOGWEIR_BOOTSTRAP_KEY', 'LOGWEIR_ADMIN_TOKEN', 'LOGWEIR_KEY_PEPPER'])
    it(`${name} has 16 characters or more, and is not in the message`, () => {
      expect(() => loadConfig({ [name]: 'sixteen_or_more_' })).not.to.throw();
      expect(() => loadConfig({ [name]: 'not_so_many_ch' })).to.throw(new RegExp(`^(?!.*not_so_many).*${name}.*16 characters`));
    });
});

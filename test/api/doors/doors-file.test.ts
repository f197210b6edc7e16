import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readDoors } from '../../../api/doors/doors-file.ts';
import { normalizers, sampleNormalizers, spanNormalizers } from '../../../pipeline/normalizers/index.ts';

describe('the file of doors', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-doors-'));
    writeFileSync(path.join(folder, 'a.key'), 'a-key\n');
    writeFileSync(path.join(folder, 'empty.key'), '\n');
  });
  after(() => rmSync(folder, { recursive: true }));
  const read = (content: unknown) => {
    const file = path.join(folder, 'doors.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return readDoors(file);
  };
  const bad = (content: unknown, pattern: RegExp): void => {
    expect(() => read(content), JSON.stringify(content)).to.throw(pattern);
  };
  const udp = { name: 'routers', kind: 'syslog_udp', port: 5514, key_file: 'a.key' };

  it('has doors with keys, which are read beside it', () => {
    expect(readDoors('')).to.deep.equal([]);
    const [routers, servers, otlp] = read({
      doors: [
        udp,
        {
          name: 'servers',
          kind: 'syslog_tcp',
          port: 6514,
          key_file: 'a.key',
          tls: { cert_file: 'c.pem', key_file: 'k.pem' },
          max_connections: 9,
        },
        { name: 'otlp', kind: 'otlp_grpc', host: '0.0.0.0', port: 4317 },
      ],
    });
    expect(routers).to.include({ kind: 'syslog_udp', host: '127.0.0.1', port: 5514, key: 'a-key', hasKeyInData: false });
    expect(servers).to.deep.include({
      tls: { certFile: path.join(folder, 'c.pem'), keyFile: path.join(folder, 'k.pem') },
      maxConnections: 9,
    });
    expect(otlp).to.include({ key: null, host: '0.0.0.0' });
  });

  it('leaves half of the connections to other tenants where there may be others', () => {
    const tls = { cert_file: 'c.pem', key_file: 'k.pem', client_ca_file: 'ca.pem' };
    const tcp = { name: 'tcp', kind: 'syslog_tcp', port: 6514, key_file: 'a.key', max_connections: 9 };
    const of = (change: object): unknown =>
      (read({ doors: [{ ...tcp, ...change }] })[0] as { maxConnectionsOfTenant?: number }).maxConnectionsOfTenant;
    expect(of({})).to.equal(9);
    expect(of({ tls, clients: [{ name: 'a', key_file: 'a.key' }] })).to.equal(9);
    expect(of({ key_in_structured_data: true })).to.equal(5);
    writeFileSync(path.join(folder, 'b.key'), 'b-key\n');
    expect(of({ tls, clients: [{ name: 'b', key_file: 'b.key' }] })).to.equal(5);
    expect(of({ kind: 'otlp_grpc' })).to.equal(5);
    expect(of({ key_in_structured_data: true, max_connections_of_tenant: 7 })).to.equal(7);
    bad({ doors: [{ ...tcp, max_connections_of_tenant: 0 }] }, /max_connections_of_tenant/);
  });

  const kafka = {
    name: 'shop',
    kind: 'kafka',
    key_file: 'a.key',
    brokers: ['kafka-1:9092', '[::1]:9092'],
    topics: ['orders'],
    format: 'json',
  };

  it('has topics of another Kafka, whose connection is as that of our own', () => {
    writeFileSync(path.join(folder, 'ca.pem'), '-----BEGIN CERTIFICATE-----\n');
    const sasl = { mechanism: 'scram-sha-512', username: 'logweir', password_file: 'a.key' };
    const token = { mechanism: 'oauthbearer', token_file: 'token' };
    const [plain, secure, bearer] = read({
      doors: [
        kafka,
        { ...kafka, name: 'b', group: 'g', from: 'latest', content_type: 'Application/JSON', tls: { ca_file: 'ca.pem' }, sasl },
        { ...kafka, name: 'c', tls: {}, sasl: token },
      ],
    });
    expect(plain).to.deep.include({ group: 'logweir-shop', from: 'beginning', key: 'a-key', contentType: '', tls: null, sasl: null });
    expect(secure).to.deep.include({
      ...{ group: 'g', from: 'latest', contentType: 'application/json', tls: { ca: '-----BEGIN CERTIFICATE-----\n' } },
      sasl: { mechanism: 'scram-sha-512', username: 'logweir', password: 'a-key' },
    });
    expect(bearer).to.deep.include({ tls: {}, sasl: { mechanism: 'oauthbearer', tokenFile: path.join(folder, 'token') } });
  });

  it('has formats of a Kafka that the service has, and the example is one', () => {
    const known = [...normalizers.members, ...spanNormalizers.members, ...sampleNormalizers.members].map(({ name }) => name);
    const listed = known.filter((format) => {
      try {
        return read({ doors: [{ ...kafka, format }] }).length === 1;
      } catch {
        return false;
      }
    });
    expect(listed).to.have.members([
      'json',
      'es_bulk',
      'loki',
      'otlp_logs',
      'otlp_traces',
      'otlp_metrics',
      'syslog',
      'gelf',
      'hec_event',
      'hec_raw',
      'fluent',
      'influx',
      'zipkin',
    ]);
    for (const name of ['shop.key', 'kafka.password', 'kafka-ca.crt'])
      writeFileSync(path.join(folder, name), '-----BEGIN CERTIFICATE-----');
    const example = readFileSync(path.resolve(import.meta.dirname, '../../../examples/doors/kafka/doors.json'), 'utf8');
    expect(read(example).map(({ name }) => name)).to.deep.equal(['shop', 'collector']);
  });

  it('is refused with what is wrong of a Kafka', () => {
    const wrong = (change: object, pattern: RegExp): void => bad({ doors: [{ ...kafka, ...change }] }, pattern);
    wrong({ brokers: ['kafka'] }, /host:port/);
    wrong({ brokers: [] }, /brokers/);
    wrong({ topics: ['a/b'] }, /names of topics/);
    wrong({ topics: ['a', 'a'] }, /duplicate/);
    wrong({ format: 'rrweb' }, /format.*must be one of.*otlp_logs/);
    wrong({ key_file: undefined }, /key_file.*required/);
    wrong({ key_file: 'empty.key' }, /without a key/);
    wrong({ port: 1 }, /port.*not allowed/);
    wrong({ from: 'now' }, /from.*beginning/);
    wrong({ tls: { cert_file: 'a.key' } }, /key_file/);
    wrong({ tls: { ca_file: 'a.key' } }, /not in PEM/);
    wrong({ sasl: { mechanism: 'plain', username: 'u', password_file: 'a.key' } }, /password over a connection without tls/);
    wrong({ tls: {}, sasl: { mechanism: 'plain', username: 'u' } }, /password_file.*required/);
    wrong({ tls: {}, sasl: { mechanism: 'plain', username: 'u', password_file: 'empty.key' } }, /without a password/);
    wrong({ tls: {}, sasl: { mechanism: 'oauthbearer', token_file: 't', token_command: 'c' } }, /token/);
    wrong({ tls: {}, sasl: { mechanism: 'gssapi' } }, /mechanism/);
    const topics = Array.from({ length: 16 }, (_, index) => `t${String(index)}`);
    bad({ doors: ['a', 'b', 'c'].map((name) => ({ ...kafka, name, topics })) }, /48 topics; they may have 32/);
  });

  it('is refused with all that is wrong', () => {
    bad('{', /JSON/);
    bad([], /must be of type object/);
    bad({ doors: [{ ...udp, kind: 'ftp' }] }, /kind/);
    bad({ doors: [udp, udp] }, /duplicate/);
    bad({ doors: [{ ...udp, portt: 1 }] }, /portt.*not allowed/);
    bad(
      {
        doors: [
          { ...udp, port: 99_999 },
          { ...udp, name: 'B!' },
        ],
      },
      /port.*name/,
    );
    bad({ doors: [{ ...udp, key_file: 'none.key' }] }, /none\.key cannot be read \(ENOENT\)/);
    bad({ doors: [{ ...udp, key_file: 'empty.key' }] }, /without a key/);
    bad({ doors: [{ name: 'x', kind: 'syslog_udp', port: 1 }] }, /has no key/);
    const clients = [{ name: 'web-1', key_file: 'a.key' }];
    bad({ doors: [{ name: 'x', kind: 'otlp_grpc', port: 1, clients }] }, /no tls/);
    bad({ doors: [{ name: 'x', kind: 'otlp_grpc', port: 1, clients, tls: { cert_file: 'c', key_file: 'k' } }] }, /client_ca_file/);
    bad({ doors: [{ name: 'x', kind: 'otlp_grpc', port: 1, clients: [{ fingerprint: 'ab', key_file: 'a.key' }] }] }, /fingerprint/);
    bad('{"doors":[{"__proto__":{"kind":"syslog_udp"},"name":"x"}]}', /kind/);
    expect(() => readDoors(path.join(folder, 'absent.json'))).to.throw(/LOGWEIR_DOORS.*ENOENT/);
  });
});

import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readDoors } from '../../../api/doors/doors-file.ts';

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

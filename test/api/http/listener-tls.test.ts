import { expect } from 'chai';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { HttpServer } from '../../../api/http/http-server.ts';
import { ListenerTls } from '../../../api/http/listener-tls.ts';
import { Authority } from '../../e2e/certificates.ts';

describe('TLS of a listener', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-tls-'));
  const [certFile, keyFile] = [path.join(folder, 'own.crt'), path.join(folder, 'own.key')];
  const log = pino({ level: 'silent' });
  let authority: Authority;
  let server: HttpServer;
  let tls: ListenerTls;
  const issue = (name: string): void => {
    const made = authority.issue(name);
    copyFileSync(made.cert, certFile);
    copyFileSync(made.key, keyFile);
  };
  before(async () => {
    authority = new Authority(path.join(folder, 'ca'));
    issue('first');
    tls = new ListenerTls({ certFile, keyFile, name: 'a test', log });
    server = new HttpServer({ name: 'test', host: '127.0.0.1', port: 0, tls, listener: (_request, response) => response.end('hello') });
    await server.start();
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  const get = (name: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const ca = readFileSync(authority.ca);
      request({ host: '127.0.0.1', port: server.port, servername: name, ca, agent: false }, (answer) => {
        answer.on('data', (chunk: Buffer) => resolve(chunk.toString()));
      })
        .on('error', reject)
        .end();
    });
  const refusal = (name: string): Promise<unknown> =>
    get(name).then(
      () => null,
      (error: unknown) => error,
    );

  it('is that of its files, and of new ones once they fit together', async () => {
    expect(await get('first')).to.equal('hello');
    issue('second');
    tls.look();
    expect(await get('second')).to.equal('hello');
    expect(await refusal('first')).to.include({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    copyFileSync(authority.issue('third').cert, certFile);
    tls.look();
    expect(await get('second'), 'a certificate whose key has not come').to.equal('hello');
    for (const damage of ['', 'no PEM', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
      writeFileSync(certFile, damage);
      tls.look();
      expect(await get('second'), damage).to.equal('hello');
    }
    rmSync(certFile);
    tls.look();
    expect(await get('second')).to.equal('hello');
    issue('fourth');
    tls.look();
    expect(await get('fourth')).to.equal('hello');
  });

  it('is refused at the start where its files cannot be used', () => {
    expect(() => new ListenerTls({ certFile: path.join(folder, 'none'), keyFile, name: 'a test', log })).to.throw(
      /none of the TLS of a test cannot be read/,
    );
    const [first, second] = [authority.issue('a'), authority.issue('b')];
    expect(() => new ListenerTls({ certFile: first.cert, keyFile: second.key, name: 'a test', log })).to.throw(/cannot be used together/);
  });

  it('goes on after connections that speak no TLS', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    issue('fifth');
    tls.look();
    expect(await get('fifth')).to.equal('hello');
  });
});

import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { reasonOf } from '../../../pipeline/core/connection-reason.ts';
import { Authority, textOf } from '../../e2e/certificates.ts';

describe('the reason why a connection failed', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-reasons-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** What a client says of a server with this certificate. */
  async function saidOf(days: number, trusted: boolean): Promise<string> {
    const authority = new Authority(path.join(folder, `${String(days)}-${String(trusted)}`));
    const { cert, key } = authority.issue('localhost', days);
    const server = tls.createServer({ cert: textOf(cert), key: textOf(key) }).on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ca = trusted ? { ca: textOf(authority.ca) } : {};
    try {
      return await new Promise<string>((resolve) => {
        const socket = tls.connect({ host: '127.0.0.1', port, servername: 'localhost', ...ca }, () => resolve('connected'));
        socket.on('error', (error) => resolve(reasonOf(error)));
      });
    } finally {
      server.close();
    }
  }

  it('is that a certificate has ended, or that nobody vouches for it', async () => {
    expect(await saidOf(2, true)).to.equal('connected');
    expect(await saidOf(-1, true)).to.equal('its certificate has expired');
    expect(await saidOf(2, false)).to.equal('its certificate is not signed by a trusted authority');
  });
});

import { expect } from 'chai';
import { createServer, get } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { networkOf } from '../../../../pipeline/core/network.ts';
import { Addresses, PrivateAddress } from '../../../../pipeline/alerting/announcements/addresses.ts';

const PRIVATE = [
  '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.9.9.9', '169.254.169.254',
  '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9',
  '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255',
  '::', '::1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:a00:1', '::ffff:169.254.169.254', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1',
  '2001::1', '2001:db8::1', '2002:7f00:1::', 'fc00::1', 'fd12::1', 'fe80::1', 'fec0::1', 'ff02::1',
]; // prettier-ignore
const PUBLIC = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.0.1', '172.32.0.1', '198.17.0.1', '223.255.255.255', '::ffff:8.8.8.8', '::ffff:808:808', '2606:4700::1111', '2a00:1450::1']; // prettier-ignore
const NONE = ['', 'localhost', '2130706433', '0x7f.1', '127.1', '[::1]', '1.1.1.1 ', 'fe80::1%eth0:'];

const isNetwork = (text: string): boolean => networkOf(text) !== null;

describe('addresses for connections that somebody else has asked for', () => {
  const addresses = new Addresses();
  for (const address of PRIVATE) it(`refuses ${address}`, () => expect(addresses.allows(address)).to.equal(false));
  for (const address of PUBLIC) it(`allows ${address}`, () => expect(addresses.allows(address)).to.equal(true));
  for (const text of NONE) it(`refuses ${JSON.stringify(text)}, which is none`, () => expect(addresses.allows(text)).to.equal(false));

  it('allows the networks of the deployment, and no more', () => {
    const own = new Addresses(['10.1.0.0/16', 'fd00::/8']);
    expect(
      ['10.1.2.3', 'fd12::1', '::ffff:10.1.2.3', '10.2.0.1', 'fc00::1', '127.0.0.1'].map((address) => own.allows(address)),
    ).to.deep.equal([true, true, true, false, false, false]);
  });

  it('knows what a network is', () => {
    expect(['10.0.0.0/8', '::1/128', '1.2.3.4/32'].map(isNetwork)).to.deep.equal([true, true, true]);
    expect(['', '10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0/8', 'a/8', '10.0.0.0/8/8', '10.0.0.0/-1'].map(isNetwork)).to.deep.equal(
      Array(8).fill(false),
    );
    expect(() => new Addresses(['10/8'])).to.throw('"10/8" is not a network');
  });

  /** What a request ends with, where the name resolves so. */
  async function ask(own: Addresses, resolve: LookupFunction): Promise<string> {
    const server = createServer((_request, response) => response.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      return await new Promise((done) => {
        get({ host: 'hook.example', port, lookup: own.lookup(resolve) }, (response) => {
          response.on('data', (data: Buffer) => done(data.toString()));
        }).on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
      });
    } finally {
      server.close();
    }
  }
  const to =
    (...found: readonly string[]): LookupFunction =>
    (_name, options, callback) => {
      if (options.all === true)
        callback(null, found.map((address) => ({ address, family: 4 }))); // prettier-ignore
      else callback(null, found[0] ?? '', 4);
    };

  it('are looked at when the connection is made, whatever the name was before', async () => {
    const code = new PrivateAddress().code;
    expect(await ask(addresses, to('127.0.0.1'))).to.equal(code);
    expect(await ask(addresses, to('8.8.8.8', '127.0.0.1'))).to.equal(code);
    expect(await ask(addresses, to())).to.equal(code);
    expect(await ask(new Addresses(['127.0.0.0/8']), to('127.0.0.1'))).to.equal('reached');
    const rebinding: LookupFunction = (name, options, callback) => to(asked++ === 0 ? '8.8.8.8' : '127.0.0.1')(name, options, callback);
    let asked = 1;
    expect(await ask(addresses, rebinding)).to.equal(code);
  });
});

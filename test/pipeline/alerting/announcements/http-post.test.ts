import { expect } from 'chai';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type LookupFunction } from 'node:net';
import { Addresses } from '../../../../pipeline/alerting/announcements/addresses.ts';
import { postJson } from '../../../../pipeline/alerting/announcements/http-post.ts';

const LOOPBACK = new Addresses(['127.0.0.0/8']);

describe('a body that is sent', () => {
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let server: Server;
  let port: number;
  let asked: string[] = [];
  before(async () => {
    server = http.createServer((request, response) => {
      asked.push(String(request.url));
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => (asked = []));

  const url = (path = '/', host = '127.0.0.1'): URL => new URL(`http://${host}:${String(port)}${path}`);
  /** A name server that says another address each time. */
  const saying = (...addresses: string[]): LookupFunction => (_name, { all }, callback) => {
    const address = addresses.shift() as string;
    callback(null, all === true ? [{ address, family: 4 }] : address, 4);
  }; // prettier-ignore
  const outcome = (sent: Promise<number>): Promise<number | string> => sent.catch((error: unknown) => (error as Error).message);
  const NO_ADDRESS = 'Its name has no public address, nor one in a network that this deployment allows.';
  const REFUSED = 'The address is private, and this deployment does not allow its network.';

  it('arrives whole, with its headers, and the status comes back', async () => {
    let got: unknown[] = [];
    answer = (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part)).on('end', () => {
        const { method, headers } = request;
        got = [method, headers['content-type'], headers['x-more'], headers.authorization, Buffer.concat(parts).toString()];
        response.writeHead(202).end('taken');
      }); // prettier-ignore
    };
    const target = Object.assign(url('/hook'), { username: 'us%65r', password: 'p:w' });
    expect(await postJson(target, '{"é":1}', { timeoutMs: 10_000, headers: { 'X-More': '1' } })).to.equal(202);
    const basic = `Basic ${Buffer.from('user:p:w').toString('base64')}`;
    expect(got).to.deep.equal(['POST', 'application/json', '1', basic, '{"é":1}']);
  });

  it('goes nowhere private: by address, by name, or by a name that says another address the second time', async () => {
    answer = (_request, response) => response.end();
    const options = { timeoutMs: 10_000, addresses: new Addresses() };
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]'])
      expect(await outcome(postJson(url('/', host), '', options)), host).to.equal(REFUSED);
    for (const [first, second] of [
      ['127.0.0.1', '127.0.0.1'],
      ['10.1.2.3', '127.0.0.1'],
    ] as const)
      expect(await outcome(postJson(url('/', 'rebound.example'), '', { ...options, resolve: saying(first, second) }))).to.equal(NO_ADDRESS);
    expect(asked).to.deep.equal([]);
  });

  it('does not tell a name that the deployment alone knows from one that nobody knows', async () => {
    const missing: LookupFunction = (_name, _options, callback) => {
      callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), '', 0);
    };
    const options = { timeoutMs: 10_000, addresses: new Addresses() };
    const said = [missing, saying('10.1.2.3')].map((resolve) => outcome(postJson(url('/', 'db.internal'), '', { ...options, resolve })));
    expect(await Promise.all(said)).to.deep.equal([NO_ADDRESS, NO_ADDRESS]);
  });

  describe('to a receiver that does not speak HTTP as it should', () => {
    let raw: net.Server;
    let says: (socket: net.Socket) => void;
    before(async () => {
      raw = net.createServer((socket) => {
        socket.on('error', () => undefined).once('data', () => says(socket));
      });
      await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
    });
    after(() => raw.close());
    const send = (timeoutMs = 10_000): Promise<number | string> =>
      outcome(postJson(new URL(`http://127.0.0.1:${String((raw.address() as AddressInfo).port)}/`), '{}', { timeoutMs }));
    const CLOSED = 'The connection was closed before there was an answer.';
    const LATE = 'It did not answer within 50 ms.';
    const cases: readonly (readonly [about: string, says: (socket: net.Socket) => void, outcome: number | string, timeoutMs?: number])[] = [
      ['answers 101, with an upgrade', (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'), 101],
      ['answers 101, and goes on', (socket) => socket.write(`HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n${'x'.repeat(100_000)}`), 101],
      ['answers 101 without an upgrade', (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'), 101],
      ['closes at once', (socket) => socket.end(), CLOSED],
      ['resets the connection', (socket) => socket.resetAndDestroy(), CLOSED],
      ['answers 102 without end', (socket) => void setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5).unref(), LATE, 50],
      ['sends no HTTP', (socket) => socket.write('220 mail.example ESMTP\r\n'), 'The connection failed (HPE_INVALID_CONSTANT).'],
      ['ends in the head of its answer', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'), CLOSED],
    ]; // prettier-ignore
    for (const [about, how, wanted, timeoutMs] of cases)
      it(`is settled where it ${about}`, async () => {
        says = how;
        expect(await send(timeoutMs)).to.equal(wanted);
      });
  });

  it('goes to the address that was looked at, whatever the name is told to be later', async () => {
    answer = (_request, response) => response.end();
    const options = { timeoutMs: 10_000, addresses: LOOPBACK, resolve: saying('127.0.0.1', '203.0.113.1') };
    expect(await postJson(url('/once', 'rebound.example'), '', options)).to.equal(200);
    expect(asked).to.deep.equal(['/once']);
  });

  it('does not follow redirects, and waits for no answer that goes on for ever, or never begins', async () => {
    answer = (_request, response) => response.writeHead(302, { Location: url('/inside').href }).end();
    expect(await postJson(url('/out'), '', { timeoutMs: 10_000 })).to.equal(302);
    expect(asked).to.deep.equal(['/out']);
    let ended: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (ended = resolve));
    answer = (_request, response) => {
      response.on('close', ended).writeHead(200);
      // a write that fails would be tried again for ever
      const more = (error?: Error | null): void => void (error ?? response.write('x'.repeat(65_536), more));
      more();
    };
    expect(await postJson(url('/endless'), '', { timeoutMs: 10_000 })).to.equal(200);
    await closed;
    answer = () => undefined;
    expect(await outcome(postJson(url('/never'), '', { timeoutMs: 20 }))).to.equal('It did not answer within 20 ms.');
  });
});

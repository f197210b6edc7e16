import { expect } from 'chai';
import net from 'node:net';
import { once } from 'node:events';
import WebSocket from 'ws';
import { LiveSockets, type OpenSocket } from '../../../api/live/sockets/live-sockets.ts';
import { LiveTails } from '../../../api/limits/live-tails.ts';
import { readTailMessage } from '../../../api/live/sockets/tail-message.ts';
import { findPlan, type Plan } from '../../../api/tenants/plans.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { eventually } from '../../fakes/eventually.ts';
import { startHost } from '../../fakes/test-host.ts';

const MEBIBYTE = 1024 * 1024;
const HANDSHAKE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];

describe('WebSockets of the app host', () => {
  let sockets: LiveSockets;
  let host: Awaited<ReturnType<typeof startHost>>;
  let keys: FakeKeyStore;
  const opened: OpenSocket[] = [];
  beforeEach(async () => {
    keys = new FakeKeyStore({
      all: {},
      writer: { scopes: new Set(['write', 'ingest'] as const) },
      two: { tenantId: 2 },
      expired: { plan: findPlan('trial_expired') as Plan, keyId: 'expired' },
      disabled: {},
      old: {},
    });
    const change = (name: string, more: object): unknown => keys.keys.set(name, { ...keys.keys.get(name)!, ...more });
    change('disabled', { tenantDisabled: true });
    change('old', { expiresAt: 1 });
    opened.length = 0;
    sockets = new LiveSockets(
      { keys },
      [{ path: '/ws/livetail/{tenant_id}', tails: new LiveTails(), open: (socket) => void opened.push(socket) }],
      MEBIBYTE,
    );
    host = await startHost({ endpoints: sockets.endpoints, keys, onUpgrade: sockets.onUpgrade });
  });
  afterEach(async () => {
    await sockets.stop();
    await host.stop();
  });

  const url = (path = '/ws/livetail/1'): string => `ws://127.0.0.1:${String(host.port)}${path}`;
  async function connect(protocols: string[], path?: string, headers: Record<string, string> = {}): Promise<WebSocket> {
    const socket = new WebSocket(url(path), protocols, { headers });
    await once(socket, 'open');
    return socket;
  }
  async function raw(lines: readonly string[], path = '/ws/livetail/1'): Promise<string> {
    const socket = net.connect(host.port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    let text = '';
    socket.on('data', (data: Buffer) => (text += data.toString('latin1')));
    await eventually('an answer', () => text.includes('\r\n\r\n'), (is) => is); // prettier-ignore
    socket.destroy();
    return text;
  }

  it('are let in with a key in any of the forms, and get a subprotocol that was offered', async () => {
    for (const [protocols, path, headers, selected] of [
      [['logweir.v1', 'logweir.bearer.all'], '', {}, 'logweir.v1'],
      [['logweir.bearer.all'], '', {}, 'logweir.bearer.all'],
      [['acme.bearer.all', 'logweir.v1'], '', {}, 'logweir.v1'],
      [['acme.bearer.all'], '', {}, 'acme.bearer.all'],
      [[], '?token=all', {}, ''],
      [[], '?api_key=all', {}, ''],
      [[], '', { authorization: 'bearer all' }, ''],
      [[], '', { authorization: 'Token all' }, ''],
      [[], '', { 'x-api-key': 'all' }, ''],
      [[], '', { authorization: `Basic ${Buffer.from('all:').toString('base64')}` }, ''],
    ] as const) {
      const socket = await connect([...protocols], `/ws/livetail/1${path}`, headers);
      expect(socket.protocol).to.equal(selected);
      socket.terminate();
    }
    expect(opened.map(({ principal }) => principal.tenantId)).to.deep.equal(Array.from({ length: 10 }, () => 1));
  });

  const refusals: readonly (readonly [string, string, readonly string[], number, string])[] = [
    ['no key', '/ws/livetail/1', HANDSHAKE, 401, 'No API key'],
    ['an unknown key', '/ws/livetail/1?token=nobodys', HANDSHAKE, 401, 'not known'],
    ['an expired key', '/ws/livetail/1?token=old', HANDSHAKE, 401, 'expired'],
    ['a disabled tenant', '/ws/livetail/1?token=disabled', HANDSHAKE, 403, 'disabled'],
    ['another tenant', '/ws/livetail/1?token=two', HANDSHAKE, 403, 'another tenant'],
    ['no scope', '/ws/livetail/1?token=writer', HANDSHAKE, 403, 'read'],
    ['no tenant', "/ws/livetail/1'--?token=all", HANDSHAKE, 400, 'integer'],
    ['no such path', '/ws/tail/1?token=all', HANDSHAKE, 404, 'No such path'],
    ['no upgrade', '/ws/livetail/1?token=all', ['X: y'], 426, 'WebSocket'],
    ['another version', '/ws/livetail/1?token=all', [...HANDSHAKE.slice(0, 2), 'Sec-WebSocket-Version: 7', HANDSHAKE[3] ?? ''], 426, '13'],
    ['no key of the protocol', '/ws/livetail/1?token=all', [...HANDSHAKE.slice(0, 3), 'Sec-WebSocket-Key: x'], 400, 'Sec-WebSocket-Key'],
    ['protocols twice', '/ws/livetail/1?token=all', [...HANDSHAKE, 'Sec-WebSocket-Protocol: a, a'], 400, 'Sec-WebSocket-Protocol'],
    ['half an upgrade', '/ws/livetail/1?token=all', ['Connection: Upgrade', 'Upgrade: websocket'], 426, 'WebSocket'],
  ];
  for (const [name, path, lines, status, words] of refusals)
    it(`${name}: ${String(status)} before the upgrade, with a request id`, async () => {
      const text = await raw([...lines, 'X-Request-Id: mine'], path);
      expect(text).to.match(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
      expect(text)
        .to.match(/x-request-id: mine/i)
        .and.to.contain(words);
      expect(opened).to.deep.equal([]);
    });

  it('the third of an expired trial is refused, until one closes', async () => {
    const first = await connect([], '/ws/livetail/1?token=expired');
    await connect([], '/ws/livetail/1?token=expired');
    expect(await raw(HANDSHAKE, '/ws/livetail/1?token=expired')).to.match(/^HTTP\/1\.1 403 [^]*2 live tails/);
    first.terminate();
    await eventually('a free place', () => sockets.size, (size) => size === 1); // prettier-ignore
    await connect([], '/ws/livetail/1?token=expired');
  });

  it('are closed when their key is not let in any more, and with the process, with a reason', async () => {
    const [first, second] = [await connect(['logweir.bearer.all']), await connect([], '/ws/livetail/2?token=two')];
    keys.keys.delete('all');
    const [code, reason] = (await once(first, 'close')) as [number, Buffer];
    expect([code, reason.toString()]).to.deep.equal([1008, 'The API key is not known.']);
    const closed = once(second, 'close') as Promise<[number, Buffer]>;
    await sockets.stop();
    expect((await closed)[0]).to.equal(1001);
    expect(await raw(HANDSHAKE, '/ws/livetail/2?token=two')).to.match(/^HTTP\/1\.1 503 /);
  });

  describe('of a client that means harm', () => {
    /** An open WebSocket to which frames are written as bytes. */
    async function bare(token: string, tenantId = 1): Promise<{ readonly socket: net.Socket; readonly closed: Promise<number> }> {
      const socket = net.connect(host.port, '127.0.0.1');
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.write(`GET /ws/livetail/${String(tenantId)}?token=${token} HTTP/1.1\r\nHost: x\r\n${HANDSHAKE.join('\r\n')}\r\n\r\n`);
      await once(socket, 'data');
      // the frame of a close: its code follows the first two bytes
      const closed = new Promise<number>((resolve) =>
        socket.on('data', (bytes: Buffer) => {
          // answers to pings may come before it
          const at = bytes.indexOf(0x88);
          if (at >= 0) resolve(bytes.readUInt16BE(at + 2));
        }),
      );
      return { socket, closed };
    }
    const MASK = [0, 0, 0, 0];
    const PING = Buffer.from([0x89, 0x80, ...MASK]);
    const PONG = Buffer.from([0x8a, 0x80, ...MASK]);
    const first = Buffer.from([0x01, 0x81, ...MASK, 0x61]);
    const more = Buffer.from([0x00, 0x81, ...MASK, 0x61]);
    const announced = (length: number): Buffer => {
      const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, ...MASK]);
      head.writeUInt32BE(length, 6);
      return head;
    };

    it('are closed after 64 fragments of a message', async () => {
      const { socket, closed } = await bare('all');
      socket.write(Buffer.concat([first, ...Array.from({ length: 64 }, () => more)]));
      expect(await closed).to.equal(1008);
    });

    for (const [name, frame] of [
      ['pings', PING],
      ['pongs', PONG],
    ] as const)
      it(`are closed after 40 ${name} at once`, async () => {
        const { socket, closed } = await bare('all');
        socket.write(Buffer.concat(Array.from({ length: 41 }, () => frame)));
        expect(await closed).to.equal(1008);
        await eventually('its end', () => sockets.size, (size) => size === 0); // prettier-ignore
      });

    it('hold no more of unfinished messages than their tenant may, and others go on', async () => {
      const other = await bare('two', 2);
      const own = await Promise.all(Array.from({ length: 12 }, () => bare('all')));
      // a quarter of a megabyte: eleven times 24,000 bytes are more
      for (const { socket } of own) socket.write(Buffer.concat([announced(100_000), Buffer.alloc(24_000)]));
      expect(await Promise.race(own.map(({ closed }) => closed))).to.equal(1013);
      await eventually('those that may stay', () => sockets.size, (size) => size > 8 && size < 13); // prettier-ignore
      for (const { socket } of own) socket.destroy();
      await eventually('the others', () => sockets.size, (size) => size === 1); // prettier-ignore
      other.socket.write(Buffer.concat([announced(60_000), Buffer.alloc(60_000)]));
      other.socket.write(Buffer.concat([announced(200_000)]));
      expect(await other.closed, 'what is too large').to.equal(1009);
    });

    it('pay for each piece that comes by itself', async () => {
      const { socket, closed } = await bare('all');
      socket.write(announced(100_000));
      const state = { isOpen: true };
      void closed.then(() => (state.isOpen = false));
      let sent = 0;
      while (state.isOpen && sent < 3000) {
        await new Promise<void>((resolve) => socket.write(Buffer.alloc(1), () => setImmediate(resolve)));
        sent += 1;
      }
      expect(await closed).to.be.oneOf([1008, 1013]);
      expect(sent).to.be.below(3000);
    });
  });

  it('what is no WebSocket, or too large, ends the socket alone', async () => {
    const other = await connect(['logweir.bearer.all']);
    const large = await connect(['logweir.bearer.all']);
    large.send('x'.repeat(200_000));
    expect(((await once(large, 'close')) as [number])[0]).to.equal(1009);
    const broken = net.connect(host.port, '127.0.0.1');
    broken.write(`GET /ws/livetail/1?token=all HTTP/1.1\r\nHost: x\r\n${HANDSHAKE.join('\r\n')}\r\n\r\n`);
    await once(broken, 'data');
    broken.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
    await once(broken, 'close');
    expect(other.readyState).to.equal(WebSocket.OPEN);
  });
});

describe('the message of a tail', () => {
  it('asks for a sample with control frames alone, for they tell of how much', () => {
    expect(readTailMessage('{"query":"*","control":true,"sample":true}')).to.deep.equal({ query: '*', control: true, sample: true });
    expect(readTailMessage('{"query":"*","control":true,"sample":false}')).to.deep.equal({ query: '*', control: true });
    for (const [text, words] of [
      ['{"query":"*","sample":true}', 'sample needs "control":true'],
      ['{"query":"*","control":true,"sample":5}', 'sample must be true or false'],
    ] as const)
      expect(() => readTailMessage(text)).to.throw(words);
  });
});

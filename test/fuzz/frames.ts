import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { LiveTails } from '../../api/limits/live-tails.ts';
import { alertSockets, type AlertSocketDeps } from '../../api/live/alerts/alert-sockets.ts';
import type { TailListener } from '../../api/live/live-hub.ts';
import { LiveQuery, parseLive, type LiveQueryText } from '../../api/live/match/live-query.ts';
import { subqueriesOf } from '../../api/live/match/subquery-values.ts';
import type { OpenLive } from '../../api/live/operations.ts';
import { LogPlace } from '../../api/live/place/log-place.ts';
import { LiveSockets } from '../../api/live/sockets/live-sockets.ts';
import { tailSockets } from '../../api/live/sockets/tail-socket.ts';
import type { TailDeps } from '../../api/live/tail-session.ts';
import { UnsentShare } from '../../api/live/unsent-share.ts';
import { toQueryError } from '../../api/query/run.ts';
import { readWindow } from '../../api/query/window.ts';
import { FakeKeyStore } from '../fakes/key-store.ts';
import { framesOf, FRAMES } from './damaged-frames.ts';
import type { Random } from './random.ts';
import { rounds, type RoundsOptions, type RoundsReport } from './rounds.ts';

/** Turns of the event loop until what a client has sent is seen to. */
const TURNS = 4;
const HANDSHAKE = {
  host: 'x',
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
/** What the service closes a client with; the close of a client comes back to it as it was. */
const CODES = new Set([1002, 1003, 1007, 1008, 1009, 1013]);
/** A fault of the service, which none of them may be (`INTERNAL` in `api/live`). */
const FAULT = 1011;
const OF_FAULT = /^The (?:tail|stream)/;
const CLOSE = 0x8;

/** A connection in memory: what the client sends is pushed, what the service writes is kept. */
class Wire extends Duplex {
  readonly #parts: Buffer[] = [];

  override _read(): void {
    // it is pushed
  }
  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#parts.push(Buffer.from(bytes));
    done();
  }

  get written(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

/** Reads a query as a query worker does that opens a tail; those inside it find nothing. */
function openedOf({ query, since }: OpenLive): string {
  try {
    const window = readWindow(since ?? '-1h', 'now', now(), 0);
    const values = subqueriesOf(parseLive(query, now())).map(() => []);
    return JSON.stringify({ values, start: since === null ? null : String(window.start) });
  } catch (error) {
    throw toQueryError(error);
  }
}

const TAIL: TailDeps = {
  hub: {
    open: (open: LiveQueryText, _listener: TailListener) => {
      const query = new LiveQuery(open, Date.now());
      return { begin: Promise.resolve([[1, 0]]), close: () => query };
    },
  } as unknown as TailDeps['hub'],
  runtime: {
    run: (_context: unknown, operation: string, parameters: OpenLive) =>
      Promise.resolve().then(() => (operation === 'live/open' ? { body: openedOf(parameters) } : { body: '{"items":[]}', stream: [] })),
  } as unknown as TailDeps['runtime'],
  stored: { wait: () => Promise.resolve() } as unknown as TailDeps['stored'],
  unsent: new UnsentShare(),
  onSent: () => undefined,
  onDropped: () => undefined,
};
const ALERTS: AlertSocketDeps = {
  streams: {
    listen: () => ({ begin: Promise.resolve(new LogPlace([])), leave: () => undefined }),
  } as unknown as AlertSocketDeps['streams'],
  runtime: TAIL.runtime,
  stored: TAIL.stored,
};

/** What a frame of the service is: its opcode and payload. */
function* sentFrames(bytes: Buffer): Generator<readonly [opcode: number, payload: Buffer]> {
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = (bytes[at + 1] as number) & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    yield [(bytes[at] as number) & 0xf, bytes.subarray(at + head, at + head + length)];
    at += head + length;
  }
}

/** What the service has done with a client: `open`, or the code of its close. Throws for what it must not send. */
function outcomeOf(written: Buffer): string {
  const end = written.indexOf('\r\n\r\n');
  if (!written.subarray(0, end).toString('latin1').startsWith('HTTP/1.1 101 '))
    throw new Error(`No upgrade: ${written.toString('latin1')}`);
  let outcome = 'open';
  for (const [opcode, payload] of sentFrames(written.subarray(end + 4))) {
    if (opcode === CLOSE) {
      const code = payload.length < 2 ? 0 : payload.readUInt16BE(0);
      outcome = CODES.has(code) ? `close ${String(code)}` : 'its own close';
      if (code === FAULT && OF_FAULT.test(payload.toString('utf8', 2))) throw new Error(`It was closed: ${payload.toString('utf8', 2)}`);
    } else if (opcode === 1) {
      const { _control: control } = JSON.parse(payload.toString('utf8')) as { _control?: { status?: number } };
      if (control === undefined || (control.status ?? 0) >= 500) throw new Error(`It was sent ${payload.toString('utf8')}`);
    }
  }
  return outcome;
}

/** Frames of clients that mean harm, some to each WebSocket, through the server code of `ws`. `runs`: how many frames. */
export async function fuzzFrames({ runs, ...options }: RoundsOptions): Promise<RoundsReport> {
  const tails = [new LiveTails(), new LiveTails()] as const;
  const sockets = new LiveSockets({ keys: new FakeKeyStore({ all: {} }) }, [tailSockets(TAIL, tails[0]), alertSockets(ALERTS, tails[1])]);
  const roundOf = (random: Random): { readonly what: string; readonly run: () => Promise<string> } => {
    const path = random.below(4) === 0 ? '/ws/alerts/1?updates=true&since=-1h' : '/ws/livetail/1?x=';
    const bytes = framesOf(random);
    return { what: `${path} ${bytes.toString('base64')}`, run: () => runFrames(sockets, path, bytes, random) };
  };
  const report = await rounds({ ...options, runs: Math.ceil(runs / FRAMES) }, roundOf);
  await sockets.stop();
  return { ...report, runs };
}

async function runFrames(sockets: LiveSockets, path: string, bytes: Buffer, random: Random): Promise<string> {
  const wire = new Wire();
  const request = { method: 'GET', url: `${path}&token=all`, headers: HANDSHAKE, socket: wire } as unknown as IncomingMessage;
  const takeOver = sockets.onUpgrade(request);
  if (takeOver === null) throw new Error('It was not accepted.');
  takeOver(wire, Buffer.alloc(0));
  for (let at = 0; at < bytes.length;) {
    const end = random.below(3) === 0 ? at + 1 + random.below(20) : random.below(2) === 0 ? at + 1 + random.below(2000) : bytes.length;
    wire.push(bytes.subarray(at, end));
    at = end;
    if (random.below(8) === 0) await turn();
  }
  for (let left = TURNS; left > 0; left -= 1) await turn();
  const { written } = wire;
  wire.destroy();
  for (let left = 10 * TURNS; left > 0 && sockets.size > 0; left -= 1) await turn();
  if (sockets.size > 0) throw new Error('It is open, though its connection is gone.');
  return outcomeOf(written);
}

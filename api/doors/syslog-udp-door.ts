import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { repeat } from '../../pipeline/core/repeat.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { framesByKey, pushCounted } from '../../pipeline/normalizers/syslog/data-key.ts';
import { addressOf } from './address.ts';
import type { SyslogUdpDoor } from './doors-file.ts';
import { SyslogIntake, type SyslogIntakeOptions } from './syslog-intake.ts';
import { droppedByKernel } from './udp-drops.ts';

export type SyslogUdpDoorOptions = SyslogIntakeOptions & {
  readonly door: SyslogUdpDoor;
  /** How often losses are shown, milliseconds. */
  readonly everyMs?: number;
};

/** Datagrams that wait: bytes of all, of one key, and of one address. */
const MAX_QUEUE_BYTES = 8 * 1024 * 1024;
const KEY_SHARE = 2;
const ADDRESS_SHARE = 4;
/** Of a datagram beside its bytes, about. */
const OWN_BYTES = 64;
const BATCH_BYTES = 262_144;
const GATHER_MS = 100;
const EVERY_MS = 5000;
/** What the system holds for the socket, as far as it allows. */
const RECEIVE_BYTES = 8 * 1024 * 1024;
const LOST = { status: 429, slug: 'backpressure', message: 'Datagrams were lost: more came than could be taken.' };
const DROPPED = { status: 429, slug: 'backpressure', message: 'Datagrams were lost: the system dropped them before they were read.' };

type Waiting = { readonly address: string; readonly frame: Buffer };
/** What waits under one key. */
class Queue {
  frames: Waiting[] = [];
  bytes = 0;
  lost = 0;
  taking = false;
}

/** Syslog over UDP (RFC 5426): a frame each datagram. What cannot be taken is lost, counted, and shown to its tenant. */
export class SyslogUdpListener implements Service {
  readonly name: string;
  readonly #options: SyslogUdpDoorOptions;
  readonly #intake: SyslogIntake;
  readonly #socket: Socket;
  readonly #queues = new Map<string | null, Queue>();
  readonly #byAddress = new Map<string, number>();
  #bytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  readonly #stop = new AbortController();
  #looking: Promise<void> | null = null;
  #port = 0;

  constructor(options: SyslogUdpDoorOptions) {
    this.#options = options;
    this.name = `door ${options.door.name}`;
    this.#intake = new SyslogIntake(options);
    this.#socket = createSocket({ type: isIPv6(options.door.host) ? 'udp6' : 'udp4', recvBufferSize: RECEIVE_BYTES });
    this.#socket.on('message', (message, from) => this.#onMessage(message, from));
    this.#socket.on('error', (error) => options.log.warn({ err: error, door: options.door.name }, 'A UDP socket failed.'));
  }

  get port(): number {
    return this.#port;
  }

  async start(): Promise<void> {
    const { host, port } = this.#options.door;
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('error', reject);
      this.#socket.bind(port, host, () => {
        this.#socket.off('error', reject);
        resolve();
      });
    });
    this.#port = this.#socket.address().port;
    this.#dropped = (await droppedByKernel(this.#port)) ?? 0;
    this.#looking = repeat(this.#options.everyMs ?? EVERY_MS, this.#stop.signal, () => this.#look());
  }

  /** Takes what waits, once. */
  async stop(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    await this.#looking;
    if (this.#looking !== null) await new Promise<void>((resolve) => this.#socket.close(resolve));
    this.#intake.stop();
    clearTimeout(this.#timer ?? undefined);
    await Promise.all([...this.#queues].map(([key, queue]) => this.#take(key, queue)));
  }

  #onMessage(message: Buffer, from: RemoteInfo): void {
    const { door } = this.#options;
    const address = addressOf(from.address);
    if (!door.hasKeyInData) {
      this.#enqueue(door.key, { address, frame: trimmed(message) });
      return;
    }
    // as one frame, whatever line feeds it has
    const one: Buffer[] = [];
    pushCounted(one, trimmed(message));
    for (const { key, body } of framesByKey(Buffer.concat(one))) this.#enqueue(key ?? door.key, { address, frame: body });
  }

  #enqueue(key: string | null, waiting: Waiting): void {
    const queue = this.#queues.get(key) ?? new Queue();
    const size = waiting.frame.length + OWN_BYTES;
    const own = this.#byAddress.get(waiting.address) ?? 0;
    if (waiting.frame.length === 0) return;
    const isOver =
      this.#bytes + size > MAX_QUEUE_BYTES ||
      queue.bytes + size > MAX_QUEUE_BYTES / KEY_SHARE ||
      own + size > MAX_QUEUE_BYTES / ADDRESS_SHARE;
    if (isOver) {
      this.#options.metrics.lost.inc({ door: this.#options.door.name, reason: 'queue' });
      queue.lost += 1;
      return;
    }
    this.#queues.set(key, queue);
    queue.frames.push(waiting);
    queue.bytes += size;
    this.#bytes += size;
    this.#byAddress.set(waiting.address, own + size);
    if (queue.bytes >= BATCH_BYTES) void this.#take(key, queue);
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        for (const [each, its] of this.#queues) void this.#take(each, its);
      }, GATHER_MS);
  }

  /** Takes all that waits under a key, unless that is being done. */
  async #take(key: string | null, queue: Queue): Promise<void> {
    if (queue.taking) return;
    queue.taking = true;
    while (queue.frames.length > 0) {
      const { body, client, release } = this.#batch(queue);
      await this.#intake.takePart({ key, body, frames: 0 }, client);
      release();
    }
    queue.taking = false;
    if (queue.lost === 0) this.#queues.delete(key);
  }

  #batch(queue: Queue): { readonly body: Buffer; readonly client: string; readonly release: () => void } {
    const most = Math.min(BATCH_BYTES, this.#intake.maxBytes / 2);
    const chunks: Buffer[] = [];
    const taken: Waiting[] = [];
    let bytes = 0;
    for (const waiting of queue.frames) {
      if (bytes > 0 && bytes + waiting.frame.length > most) break;
      taken.push(waiting);
      bytes += waiting.frame.length;
      // one with a key of its own is counted already
      if (this.#options.door.hasKeyInData) chunks.push(waiting.frame);
      else pushCounted(chunks, waiting.frame);
    }
    queue.frames.splice(0, taken.length);
    const [first] = taken;
    const isOne = taken.every(({ address }) => address === first?.address);
    return {
      body: Buffer.concat(chunks),
      client: isOne ? (first?.address ?? '') : `${first?.address ?? ''} and others`,
      release: () => {
        for (const { address, frame } of taken) this.#give(queue, address, frame.length + OWN_BYTES);
      },
    };
  }

  #give(queue: Queue, address: string, size: number): void {
    queue.bytes -= size;
    this.#bytes -= size;
    const own = (this.#byAddress.get(address) ?? 0) - size;
    if (own <= 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, own);
  }

  /** Shows what was lost since the last look. */
  async #look(): Promise<void> {
    const { door, metrics } = this.#options;
    for (const [key, queue] of this.#queues) {
      if (queue.lost > 0) this.#intake.note(key, LOST, { client: '', count: queue.lost });
      queue.lost = 0;
      if (queue.frames.length === 0 && !queue.taking) this.#queues.delete(key);
    }
    const dropped = await droppedByKernel(this.#port);
    if (dropped === null || dropped <= this.#dropped) return;
    const lost = dropped - this.#dropped;
    this.#dropped = dropped;
    metrics.lost.inc({ door: door.name, reason: 'kernel' }, lost);
    this.#intake.note(door.key, DROPPED, { client: '', count: lost });
  }
}

/** Without line ends and NULs behind it. */
function trimmed(message: Buffer): Buffer {
  let end = message.length;
  while (end > 0 && (message[end - 1] === 0x0a || message[end - 1] === 0x0d || message[end - 1] === 0x00)) end -= 1;
  return message.subarray(0, end);
}

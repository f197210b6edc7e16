import type { Socket } from 'node:net';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { MAX_FRAME_BYTES, StreamFramer } from '../../pipeline/normalizers/syslog/stream-framer.ts';
import { sampleOf } from '../../pipeline/core/sample.ts';
import type { LoopTurns } from '../http/loop-turns.ts';
import { addressOf } from './address.ts';
import type { FrameAccount, FrameBudget, Holder } from './frame-budget.ts';
import type { Seat } from './seats.ts';
import type { SyslogIntake } from './syslog-intake.ts';

/** Why a connection was closed by this side. */
export type ClosedFor = 'slow' | 'key' | 'tenant' | 'budget';

export type SyslogConnectionOptions = {
  readonly intake: SyslogIntake;
  /** Of frames without a key of their own. */
  readonly key: string | null;
  /** Is claimed for the tenant of the first frames, unless it is claimed already. */
  readonly seat: Seat;
  readonly budget: FrameBudget;
  /** By owners, as the budget has them: one body of an owner is begun with in an iteration of the event loop, and one large chunk of it is read. */
  readonly turns: LoopTurns<string>;
  readonly onClosed: (reason: ClosedFor) => void;
  /** How long a frame may take to come whole; milliseconds. */
  readonly frameMs?: number;
};

/** What a tenant is shown of a connection that was one too many. */
export const TOO_MANY = {
  status: 429,
  slug: 'backpressure',
  message: 'A connection was closed: the tenant has as many at this door as it may.',
};
/** Frames are gathered until they have so many bytes, or for so long. Milliseconds. */
const BATCH_BYTES = 131_072;
const GATHER_MS = 100;
/** After so much at once a connection waits for the next iteration of the event loop, so that the others are read too. */
const LARGE_CHUNK_BYTES = 16_384;
/** A frame that has not come whole after so long ends where its connection stands. Milliseconds. */
const FRAME_MS = 30_000;

/**
 * Frames of one connection. While those that came are not on the log, no more is read: the sender's system waits. Syslog has no
 * acknowledgement, so what was read and not put on the log is lost with the process; that is BATCH_BYTES and a frame at most.
 */
export class SyslogConnection implements Holder {
  readonly #socket: Socket;
  readonly #options: SyslogConnectionOptions;
  readonly #client: string;
  readonly #framer: StreamFramer;
  readonly #account: FrameAccount;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Bytes that are being put on the log. */
  #taken = 0;
  #isHeldBack = false;
  #isYielding = false;
  #timer: NodeJS.Timeout | null = null;
  #patience: NodeJS.Timeout | null = null;
  #isEnding = false;
  #taking: Promise<void> | null = null;

  constructor(socket: Socket, options: SyslogConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#client = addressOf(socket.remoteAddress);
    this.#framer = new StreamFramer((start) => this.#tooLong(start));
    this.#account = options.budget.open(this.#owner, this);
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.once('end', () => void this.close());
    socket.once('close', () => void this.close());
  }

  /** Takes what has come, and closes the connection. */
  async close(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#socket.pause();
    clearTimeout(this.#patience ?? undefined);
    this.#add(this.#framer.end());
    this.#note();
    // what is being taken may have ended just before more was added
    while (this.#bytes > 0) await this.#flush();
    await this.#taking;
    this.#account.end();
    this.#socket.end();
    this.#socket.destroySoon();
  }

  holdBack(): void {
    this.#isHeldBack = true;
    this.#socket.pause();
  }

  goOn(): void {
    this.#isHeldBack = false;
    this.#resume();
  }

  cut(): void {
    if (this.#isEnding) return;
    this.#options.onClosed('budget');
    void this.close();
  }

  #onData(chunk: Buffer): void {
    if (this.#isEnding) return;
    const before = this.#framer.held;
    const whole = this.#framer.push(chunk);
    this.#add(whole);
    if (this.#framer.held === 0) this.#wait(null);
    else if (before === 0 || whole.length > 0) this.#wait(this.#options.frameMs ?? FRAME_MS);
    if (this.#bytes >= BATCH_BYTES) void this.#flush();
    else if (this.#bytes > 0) this.#timer ??= setTimeout(() => void this.#flush(), GATHER_MS);
    this.#note();
    if (chunk.length >= LARGE_CHUNK_BYTES) void this.#yield();
  }

  /** Waits to be read again: connections of which nobody knows yet whose they are have one turn together, however many they are. */
  async #yield(): Promise<void> {
    const { seat, turns } = this.#options;
    this.#isYielding = true;
    this.#socket.pause();
    await nextIteration();
    await turns.next(`reads of ${seat.tenantId === null ? 'nobody' : this.#owner}`);
    this.#isYielding = false;
    this.#resume();
  }

  /** Whose the connection is, as the budget knows it. */
  get #owner(): string {
    const { tenantId } = this.#options.seat;
    return tenantId === null ? `address ${this.#client}` : `tenant ${String(tenantId)}`;
  }

  #note(): void {
    this.#account.set(this.#framer.held, this.#bytes + this.#taken);
  }

  #resume(): void {
    if (!this.#isEnding && !this.#isHeldBack && !this.#isYielding && this.#taken === 0) this.#socket.resume();
  }

  #add(frames: Buffer): void {
    if (frames.length === 0) return;
    this.#parts.push(frames);
    this.#bytes += frames.length;
  }

  /** How long the rest of a frame is waited for; null: there is none. */
  #wait(ms: number | null): void {
    clearTimeout(this.#patience ?? undefined);
    this.#patience =
      ms === null
        ? null
        : setTimeout(() => {
            if (this.#isEnding) return;
            // while nothing is read, the rest may have come
            if (this.#socket.isPaused()) {
              this.#wait(ms);
              return;
            }
            this.#options.onClosed('slow');
            void this.close();
          }, ms);
  }

  #flush(): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
      this.#resume();
    });
    return this.#taking;
  }

  async #take(): Promise<void> {
    while (this.#bytes > 0) {
      this.#socket.pause();
      const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
      [this.#parts, this.#bytes, this.#taken] = [[], 0, this.#bytes];
      const { isKeyRefused } = await this.#takeBody(body);
      this.#taken = 0;
      if (isKeyRefused) this.#refuseKey();
      else this.#note();
    }
  }

  async #takeBody(body: Buffer): ReturnType<SyslogIntake['take']> {
    const { intake, key, seat, turns, onClosed } = this.#options;
    await turns.next(this.#owner);
    const parts = intake.parts(body, key);
    const first = parts[0]?.key ?? null;
    const tenantId = seat.tenantId === null ? intake.tenantOf(first) : null;
    if (tenantId !== null && !this.#isEnding) {
      if (seat.claim(tenantId)) this.#account.moveTo(this.#owner);
      else {
        intake.note(first, TOO_MANY, { client: this.#client });
        onClosed('tenant');
        // what has come is taken
        void this.close();
      }
    }
    return intake.take(parts, this.#client);
  }

  #refuseKey(): void {
    this.#options.onClosed('key');
    this.#isEnding = true;
    [this.#parts, this.#bytes] = [[], 0];
    this.#account.end();
    this.#socket.destroy();
  }

  #tooLong(start: Buffer): void {
    const { intake, key } = this.#options;
    intake.lose(start, 'length', 1);
    const message = `A frame has more than ${String(MAX_FRAME_BYTES)} bytes.`;
    intake.note(key, { status: 413, slug: 'payload_too_large', message }, { client: this.#client, sample: sampleOf(start) });
  }
}

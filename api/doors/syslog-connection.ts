import type { Socket } from 'node:net';
import { MAX_FRAME_BYTES, StreamFramer } from '../../pipeline/normalizers/syslog/stream-framer.ts';
import { sampleOf } from '../../pipeline/core/sample.ts';
import { addressOf } from './address-bounds.ts';
import type { SyslogIntake } from './syslog-intake.ts';

export type SyslogConnectionOptions = {
  readonly intake: SyslogIntake;
  /** Of frames without a key of their own. */
  readonly key: string | null;
  /** Is given why the connection was closed by this side. */
  readonly onClosed: (reason: 'slow' | 'key') => void;
  /** How long a frame may take to come whole; milliseconds. */
  readonly frameMs?: number;
};

/** Frames are gathered until they have so many bytes, or for so long. Milliseconds. */
const BATCH_BYTES = 131_072;
const GATHER_MS = 100;
/** A frame that has not come whole after so long ends where its connection stands. Milliseconds. */
const FRAME_MS = 30_000;

/**
 * Frames of one connection. While those that came are not on the log, no more is read: the sender's system waits. Syslog has no
 * acknowledgement, so what was read and not put on the log is lost with the process; that is BATCH_BYTES and a frame at most.
 */
export class SyslogConnection {
  readonly #socket: Socket;
  readonly #options: SyslogConnectionOptions;
  readonly #client: string;
  readonly #framer: StreamFramer;
  #parts: Buffer[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #patience: NodeJS.Timeout | null = null;
  #isEnding = false;
  #taking: Promise<void> | null = null;

  constructor(socket: Socket, options: SyslogConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#client = addressOf(socket.remoteAddress);
    this.#framer = new StreamFramer((start) => this.#tooLong(start));
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
    // what is being taken may have ended just before more was added
    while (this.#bytes > 0) await this.#flush();
    await this.#taking;
    this.#socket.end();
    this.#socket.destroySoon();
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
    });
    return this.#taking;
  }

  async #take(): Promise<void> {
    this.#socket.pause();
    while (this.#bytes > 0) {
      const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      const { isKeyRefused } = await this.#options.intake.take(body, this.#options.key, this.#client);
      if (!isKeyRefused) continue;
      this.#options.onClosed('key');
      this.#isEnding = true;
      this.#parts = [];
      this.#bytes = 0;
      this.#socket.destroy();
      return;
    }
    if (!this.#isEnding) this.#socket.resume();
  }

  #tooLong(start: Buffer): void {
    const { intake, key } = this.#options;
    intake.lose(start, 'length', 1);
    const message = `A frame has more than ${String(MAX_FRAME_BYTES)} bytes.`;
    intake.note(key, { status: 413, slug: 'payload_too_large', message }, { client: this.#client, sample: sampleOf(start) });
  }
}

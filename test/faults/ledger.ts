import { closeSync, fdatasync, openSync, write } from 'node:fs';
import { promisify } from 'node:util';

/** Before a request: entry `i` of it has the uid `<request>.<i>`. `refused`: entries that must be refused, one by one. */
export type SentLine = {
  readonly kind: 'sent';
  /** `<client>-<sequence>.<attempt>`: a repeat is a request of its own, whose entries have uids of their own. */
  readonly request: string;
  readonly entries: number;
  readonly refused: readonly number[];
  /** Of the body before any content encoding: what counts for the tenant's volume. */
  readonly bytes: number;
  readonly api: string;
  readonly format: string;
  readonly encoding: string;
};

/** `unknown`: the entries may be stored, each once or not at all. */
export type OutcomeLine = {
  readonly kind: 'acked' | 'rejected' | 'unknown';
  readonly request: string;
  /** 0: no answer came. */
  readonly status: number;
  readonly tookMs: number;
  readonly why?: string;
};

export type LedgerLine = SentLine | OutcomeLine;

/** Writes to a file and says how many bytes it took, which may be fewer. */
export type Write = (fd: number, bytes: Uint8Array) => Promise<{ readonly bytesWritten: number }>;

const sync = promisify(fdatasync);

/**
 * A file of JSON lines, each with the time `at` (milliseconds since the epoch). What is appended is on the disk when its promise resolves; lines
 * that come together share a sync. Who reads while others append finds whole lines first, and at the end perhaps a part of one.
 */
export class Ledger {
  readonly file: string;
  readonly #fd: number;
  readonly #write: Write;
  #waiting: { readonly text: string; readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  #writing: Promise<void> | null = null;

  constructor(file: string, writeSome: Write = promisify(write)) {
    this.file = file;
    this.#write = writeSome;
    this.#fd = openSync(file, 'a', 0o600);
  }

  append(line: LedgerLine): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text: `${JSON.stringify({ at: Date.now(), ...line })}\n`, resolve, reject });
      this.#writing ??= this.#flush();
    });
  }

  async close(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    closeSync(this.#fd);
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#writeAll(Buffer.from(group.map(({ text }) => text).join('')));
        await sync(this.#fd);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    // in the same turn as the last look, so that no line comes between and waits for the next one
    this.#writing = null;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray((await this.#write(this.#fd, rest)).bytesWritten);
  }
}

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Why an answer was cut off: its client read nothing of it for too long, or too many bytes wait to be read. */
export type UnsentReason = 'silent' | 'budget';

export type UnsentOptions = {
  /** How long a client may read nothing of its answer. Milliseconds. */
  readonly silentMs?: number;
  /** Bytes of answers that may wait in the memory of the process; a quarter of them for one owner. */
  readonly maxBytes?: number;
  /** Whose answer it is: a tenant's id, or null where it is not known. */
  readonly ownerOf?: (answer: ServerResponse) => number | null;
  readonly onCut?: (reason: UnsentReason, answer: ServerResponse) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

const OWNER_SHARE = 4;

/** An answer of which something waits to be taken. */
type Waiting = { readonly answer: ServerResponse; readonly since: number; bytes: number; queued: number; movedAt: number };

/** Bounds what waits to be sent to clients that do not read. It is for its owner to look at all open answers every second or so. */
export class UnsentAnswers {
  readonly #options: Required<UnsentOptions>;
  readonly #waiting = new Map<ServerResponse, Waiting>();

  constructor(options: UnsentOptions = {}) {
    const defaults = { silentMs: 30_000, maxBytes: 128 * 1024 * 1024, ownerOf: () => null, onCut: () => undefined };
    this.#options = { ...defaults, now: () => performance.now(), ...options };
  }

  /** Looks at all answers that are open: those beyond a bound are cut off, with their connection. */
  look(open: ReadonlySet<ServerResponse>): void {
    for (const answer of this.#waiting.keys()) if (!open.has(answer)) this.#waiting.delete(answer);
    const now = this.#options.now();
    for (const answer of open) this.#note(answer, now);
    for (const { answer, movedAt } of this.#waiting.values()) if (now - movedAt >= this.#options.silentMs) this.#cut(answer, 'silent');
    this.#keepBudget();
  }

  #note(answer: ServerResponse, now: number): void {
    const bytes = answer.writableLength;
    if (bytes === 0) {
      this.#waiting.delete(answer);
      return;
    }
    const queued = queuedOf(answer.socket);
    const before = this.#waiting.get(answer);
    if (before === undefined) this.#waiting.set(answer, { answer, since: now, bytes, queued, movedAt: now });
    else if (before.bytes !== bytes || before.queued !== queued) Object.assign(before, { bytes, queued, movedAt: now });
  }

  /** Cuts off those that have waited longest, of whom has most. */
  #keepBudget(): void {
    const { maxBytes, ownerOf } = this.#options;
    const owners = new Map<number | null, { bytes: number; readonly waiting: Waiting[] }>();
    let total = 0;
    for (const one of this.#waiting.values()) {
      const owner = ownerOf(one.answer);
      const all = owners.get(owner) ?? { bytes: 0, waiting: [] };
      all.bytes += one.bytes;
      all.waiting.push(one);
      owners.set(owner, all);
      total += one.bytes;
    }
    for (const all of [...owners.values()].sort((a, b) => b.bytes - a.bytes)) {
      all.waiting.sort((a, b) => a.since - b.since);
      for (const { answer, bytes } of all.waiting) {
        // the last one of an owner stays while the budget allows it, however large it is; one answer alone is always sent
        const bound = all.bytes === bytes ? Infinity : maxBytes / OWNER_SHARE;
        if (all.bytes <= bound && (total <= maxBytes || total === bytes)) break;
        this.#cut(answer, 'budget');
        all.bytes -= bytes;
        total -= bytes;
      }
    }
  }

  #cut(answer: ServerResponse, reason: UnsentReason): void {
    this.#waiting.delete(answer);
    this.#options.onCut(reason, answer);
    // one that waits behind another of its connection has no socket of its own
    answer.req.socket.destroy();
  }
}

/** What the system has not taken yet of the last write: a large one moves there, while the stream reports all of it as unsent. */
function queuedOf(socket: Socket | null): number {
  const handle = (socket as { readonly _handle?: { readonly writeQueueSize?: number } | null } | null)?._handle;
  return handle?.writeQueueSize ?? 0;
}

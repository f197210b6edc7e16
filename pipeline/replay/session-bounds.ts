import { RecentMap } from '../core/generations.ts';
import { MAX_SESSION_MS } from './chunk.ts';
import { SessionRecall, type SessionSize, type StoredSizes } from './session-recall.ts';

/** What a session may have as JSON. Bytes. */
export const MAX_SESSION_BYTES = 256 * 1024 * 1024;
/** Sessions whose size is remembered, in each of two generations. One that was forgotten is asked for when it comes again. */
const MAX_KNOWN = 100_000;
const TOO_LARGE = `The session has more than ${String(MAX_SESSION_BYTES)} bytes, which is the most that one may have; begin another one.`;
const TOO_LONG = `The session is longer than ${String(MAX_SESSION_MS / 3_600_000)} hours, which is the most that one may last; begin another one.`;

type Known = SessionSize & { readonly isOver: boolean };

/**
 * How large the sessions are that this process has taken events of lately. Of one that it does not know it asks what is stored; nothing waits
 * for the answer, so that a session may get more than its bound until it is there.
 */
export class SessionBounds {
  readonly #known = new RecentMap<string, Known>(MAX_KNOWN);
  readonly #recall: SessionRecall | null;

  /** Without `stored` sessions count from what this process has taken. `onFault` is called once where ClickHouse stops to answer. */
  constructor(stored: StoredSizes | null = null, onFault: (error: unknown) => void = () => undefined) {
    const onFound = (tenantId: number, session: string, size: SessionSize): void => {
      this.#found(keyOf(tenantId, session), size);
    };
    this.#recall = stored === null ? null : new SessionRecall({ stored, onFound, onFault });
  }

  /**
   * Counts events of a session, their times in milliseconds; says what is too much, and then counts nothing. Empty where all is well. A session
   * that was refused for its bytes takes no others, however few.
   */
  add(tenantId: number, session: string, bytes: number, first: number, last: number): string {
    const key = keyOf(tenantId, session);
    const known = this.#known.get(key);
    if (known === undefined) this.#recall?.want(tenantId, session, { first, last });
    const { isOver, ...size } = known ?? { bytes: 0, first, last, isOver: false };
    if (isOver) return TOO_LARGE;
    const [begin, end] = [Math.min(size.first, first), Math.max(size.last, last)];
    if (size.bytes + bytes > MAX_SESSION_BYTES) {
      this.#known.set(key, { ...size, isOver: true });
      return TOO_LARGE;
    }
    if (end - begin > MAX_SESSION_MS) return TOO_LONG;
    this.#known.set(key, { bytes: size.bytes + bytes, first: begin, last: end, isOver });
    return '';
  }

  /** What is too much of a session, whatever comes; empty where something may be taken. */
  faultOf(tenantId: number, session: string): string {
    return this.#known.get(keyOf(tenantId, session))?.isOver === true ? TOO_LARGE : '';
  }

  /** What is stored may be what was counted meanwhile: the larger of them is true, but for what is on its way. */
  #found(key: string, { bytes, first, last }: SessionSize): void {
    const known = this.#known.get(key) ?? { bytes, first, last, isOver: false };
    const most = Math.max(known.bytes, bytes);
    this.#known.set(key, {
      ...{ bytes: most, first: Math.min(known.first, first), last: Math.max(known.last, last) },
      isOver: known.isOver || most >= MAX_SESSION_BYTES,
    });
  }
}

const keyOf = (tenantId: number, session: string): string => `${String(tenantId)}/${session}`;

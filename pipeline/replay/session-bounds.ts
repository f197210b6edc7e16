import { RecentMap } from '../core/generations.ts';
import { MAX_SESSION_MS } from './chunk.ts';

/** What a session may have as JSON. Bytes. */
export const MAX_SESSION_BYTES = 256 * 1024 * 1024;
/** Sessions whose size is remembered, in each of two generations. One that was forgotten counts from nothing. */
const MAX_KNOWN = 100_000;

type Known = { bytes: number; first: number; last: number };

/** How large the sessions are that this process has taken events of lately. */
export class SessionBounds {
  readonly #known = new RecentMap<string, Known>(MAX_KNOWN);

  /** Counts events of a session, their times in milliseconds; says what is too much, and then counts nothing. Empty where all is well. */
  add(tenantId: number, session: string, bytes: number, first: number, last: number): string {
    const key = `${String(tenantId)}/${session}`;
    const known = this.#known.get(key) ?? { bytes: 0, first, last };
    const [begin, end] = [Math.min(known.first, first), Math.max(known.last, last)];
    if (known.bytes + bytes > MAX_SESSION_BYTES)
      return `The session has more than ${String(MAX_SESSION_BYTES)} bytes, which is the most that one may have; begin another one.`;
    if (end - begin > MAX_SESSION_MS)
      return `The session is longer than ${String(MAX_SESSION_MS / 3_600_000)} hours, which is the most that one may last; begin another one.`;
    this.#known.set(key, { bytes: known.bytes + bytes, first: begin, last: end });
    return '';
  }
}

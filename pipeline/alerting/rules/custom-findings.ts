import { RULE } from '../book/alert.ts';
import type { Finding } from '../../detectors/detector.ts';

/** A finding about minutes older than this is no longer an alert. Minutes. */
const MOST_OLD = 1440;
/** A detector without a finding for this long counts as removed: it would report that what fires goes on or ends. Milliseconds, windows. */
const SILENT_MS = 3 * 3_600_000;
const SILENT_WINDOWS = 12;
const MINUTE_MS = 60_000;

/** Windows that an alert shows. */
export const SHOWN = 60;

/** What was sent to a detector of one's own of a group, and what it has found. */
export class CustomFindings {
  /** The entries of the last windows, the newest last, and the first minute of that one. */
  readonly entries: number[];
  #window: number;
  /** What fires, and when its finding came: append time, milliseconds. */
  #open: Finding | null;
  #receivedAt: number;
  /** The minute of the last finding. */
  #received: number;

  constructor(kept: unknown) {
    // the third member was of releases in which sources knew what a user had resolved
    const [entries, window, , open, receivedAt, received] = (kept ?? [[], 0, false, null, 0, 0]) as [number[], number, boolean, Finding | null, number, number]; // prettier-ignore
    [this.entries, this.#window, this.#open, this.#receivedAt, this.#received] = [entries, window, open, receivedAt, received];
  }

  /** A window is over. */
  push(window: number, entries: number): void {
    this.#window = window;
    this.entries.push(entries);
    if (this.entries.length > SHOWN) this.entries.shift();
  }

  /** How many windows are over since one that ends with a minute. */
  since(end: number, minutes: number): number {
    return Math.max(0, Math.floor((this.#window + minutes - 1 - end) / minutes));
  }

  /** Takes what was found, each finding once however often it comes; false where it is repeated or late. `appendedAt`: milliseconds. */
  take(finding: Finding, appendedAt: number): boolean {
    const { updatedAt, state } = finding;
    if (updatedAt <= this.#received || updatedAt < appendedAt / MINUTE_MS - MOST_OLD) return false;
    this.#received = updatedAt;
    this.#receivedAt = appendedAt;
    this.#open = state === 'firing' ? { ...finding, detector: RULE } : null;
    return true;
  }

  /** What fires, resolved with a window since no more findings of it came; null for nothing. `appendedAt`: milliseconds. */
  end(window: { readonly end: number; readonly minutes: number }, appendedAt: number): Finding | null {
    const open = this.#open;
    const most = Math.max(SILENT_MS, SILENT_WINDOWS * window.minutes * MINUTE_MS);
    if (open === null || appendedAt - this.#receivedAt < most) return null;
    this.#open = null;
    return { ...open, state: 'resolved', updatedAt: Math.max(window.end, this.#received) };
  }

  toJSON(): unknown {
    return [this.entries, this.#window, false, this.#open, this.#receivedAt, this.#received];
  }
}

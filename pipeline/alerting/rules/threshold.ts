/** Back for so long it is over; firing again so soon after that is the same alert. Minutes, and windows at least. */
const CALM_MINUTES = 5;
const AGAIN_MINUTES = 30;
const AGAIN_WINDOWS = 2;

type Open = {
  readonly firedAt: number;
  readonly fireCount: number;
  readonly hotAt: number;
  readonly calm: number;
  /** In releases in which sources knew that a user had resolved it: it gives nothing until it has recovered. */
  readonly isMuted: boolean;
};
type Past = { readonly firedAt: number; readonly fireCount: number; readonly resolvedAt: number };

/** What a window changes of an alert; minutes since 1970, the last ones of windows. */
export type ThresholdEvent = {
  readonly state: 'firing' | 'resolved';
  readonly firedAt: number;
  readonly fireCount: number;
  readonly updatedAt: number;
};

/** When a value that is compared with a number fires, and when it has come back. */
export class Threshold {
  /** Windows in a row, the last ones, that were beyond the number. */
  #run = 0;
  #open: Open | null = null;
  #past: Past | null = null;

  /** A window that is still open is beyond the number already; `end`: its last minute. */
  rise(end: number, minutes: number): ThresholdEvent | null {
    return this.#open !== null && this.#open.hotAt >= end ? null : this.#fire(end, minutes);
  }

  /** A window is over. `windows`: how many in a row must be beyond. */
  close(end: number, isHot: boolean, { minutes, windows }: { readonly minutes: number; readonly windows: number }): ThresholdEvent | null {
    const open = this.#open;
    // a later window, or this one, has fired already
    const isKnown = open !== null && open.hotAt >= end;
    if (isHot) {
      this.#run = Math.min(this.#run + 1, windows);
      if (isKnown) return open.hotAt === end ? publishedOf(open, 'firing', end) : null;
      return this.#run >= windows ? this.#fire(end, minutes) : null;
    }
    this.#run = 0;
    return open === null || isKnown ? null : this.#rest(open, end, minutes);
  }

  toJSON(): unknown {
    return [this.#run, this.#open, this.#past];
  }

  /** What `toJSON` gave. */
  static from(json: unknown): Threshold {
    const read = new Threshold();
    [read.#run, read.#open, read.#past] = json as [number, Open | null, Past | null];
    return read;
  }

  #fire(end: number, minutes: number): ThresholdEvent | null {
    const [open, past] = [this.#open, this.#past];
    const again = Math.max(AGAIN_MINUTES, AGAIN_WINDOWS * minutes);
    const before = open ?? (past !== null && end - past.resolvedAt < again ? past : null);
    const fireCount = (before?.fireCount ?? 0) + 1;
    this.#open = { firedAt: before?.firedAt ?? end, fireCount, hotAt: end, calm: 0, isMuted: open?.isMuted ?? false };
    return this.#open.isMuted ? null : publishedOf(this.#open, 'firing', end);
  }

  #rest(open: Open, end: number, minutes: number): ThresholdEvent | null {
    const calm = open.calm + 1;
    this.#open = { ...open, calm };
    if (calm * minutes < CALM_MINUTES) return null;
    const { firedAt, fireCount, isMuted } = open;
    this.#open = null;
    this.#past = isMuted ? null : { firedAt, fireCount, resolvedAt: end };
    return isMuted ? null : publishedOf(open, 'resolved', end);
  }
}

const publishedOf = ({ firedAt, fireCount, isMuted }: Open, state: ThresholdEvent['state'], updatedAt: number): ThresholdEvent | null =>
  isMuted ? null : { state, firedAt, fireCount, updatedAt };

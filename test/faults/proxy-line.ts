import type net from 'node:net';

/** How the bytes of a direction travel. Zeros: at once. */
export type Shape = {
  readonly delayMs: number;
  /** The delay differs by up to this much, both ways. */ readonly jitterMs: number;
  readonly bytesPerSecond: number;
  /** Nothing leaves; it comes out later, late and in order. */ readonly isHeld: boolean;
};

/** Bytes that may be under way in one direction before its source is no longer read; while they are held, more. */
const MAX_QUEUED = 1024 * 1024;
const MAX_HELD = 64 * 1024 * 1024;

/** One direction of a connection: what is given leaves in the order it came, as late and as slowly as the shape says. */
export type Line = {
  write(bytes: Buffer): void;
  /** The source has nothing more; said to the target behind all that was written. */
  end(): void;
  /** The source was reset, and so the target is, behind all that was written. */
  reset(): void;
  /** Looks again at the shape. */
  wake(): void;
  /** True while the source should not be read. */
  readonly isFull: boolean;
};

const sizeOf = (what: Buffer | 'end' | 'reset'): number => (typeof what === 'string' ? 0 : what.length);

export function createLine(options: {
  readonly target: net.Socket;
  readonly shape: () => Shape;
  readonly random: () => number;
  readonly onChange: () => void;
}): Line {
  const { target, shape, random, onChange } = options;
  const queue: { readonly what: Buffer | 'end' | 'reset'; readonly dueAt: number }[] = [];
  let queued = 0;
  let lastDueAt = 0;
  let timer: NodeJS.Timeout | null = null;

  const push = (what: Buffer | 'end' | 'reset'): void => {
    if (target.destroyed) return;
    const size = sizeOf(what);
    const { delayMs, jitterMs, bytesPerSecond } = shape();
    const now = performance.now();
    const late = Math.max(0, delayMs + jitterMs * (2 * random() - 1));
    const onTheWay = bytesPerSecond === 0 ? 0 : (size / bytesPerSecond) * 1000;
    // a byte never overtakes another, and the line carries one at a time
    lastDueAt = Math.max(now + late, lastDueAt) + onTheWay;
    queue.push({ what, dueAt: lastDueAt });
    queued += size;
    pump();
  };

  function pump(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const now = performance.now();
    while (queue.length > 0 && !target.destroyed && !shape().isHeld) {
      const { what, dueAt } = queue[0] as (typeof queue)[0];
      if (dueAt > now) {
        timer = setTimeout(pump, dueAt - now);
        break;
      }
      queue.shift();
      queued -= sizeOf(what);
      if (what === 'end') target.end();
      else if (what === 'reset') target.resetAndDestroy();
      else target.write(what);
    }
    onChange();
  }

  target.on('drain', onChange);
  target.once('close', () => {
    if (timer !== null) clearTimeout(timer);
    queue.length = 0;
  });
  return {
    write: push,
    end: () => {
      push('end');
    },
    reset: () => {
      push('reset');
    },
    wake: pump,
    get isFull() {
      return target.writableNeedDrain || queued > (shape().isHeld ? MAX_HELD : MAX_QUEUED);
    },
  };
}

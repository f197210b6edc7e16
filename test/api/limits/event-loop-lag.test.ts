import { expect } from 'chai';
import { EventLoopLag } from '../../../api/limits/event-loop-lag.ts';

/** A timer and a clock that the test moves. */
class FakeTimer {
  now = 1000;
  ticks: (() => void)[] = [];
  readonly options = {
    now: () => this.now,
    every: (_ms: number, tick: () => void) => {
      this.ticks.push(tick);
      return () => {
        this.ticks = this.ticks.filter((other) => other !== tick);
      };
    },
  };
  /** The timer fires so many milliseconds late. */
  late(...delays: number[]): void {
    for (const delay of delays) {
      this.now += 50 + delay;
      for (const tick of this.ticks) tick();
    }
  }
}

describe('the lag of the event loop', () => {
  const rows: readonly (readonly [string, number[], number])[] = [
    ['no tick yet', [], 0],
    ['in time', [0, 1, 0, 2], 0],
    ['one long pause', [0, 0, 5000], 0],
    ['one long pause a moment ago', [5000, 0, 0], 0],
    ['two pauses with a turn between', [900, 0, 900], 0],
    ['slow at the start', [400, 300], 0],
    ['slow', [300, 400, 350], 300],
    ['slow after a long time', [0, 0, 0, 0, 400, 600, 500], 400],
    ['in time again', [400, 600, 500, 700, 3], 3],
    ['a clock that went backwards', [400, 600, -2000], 0],
  ];
  for (const [name, delays, lag] of rows) {
    it(`${name}: ${lag} ms`, async () => {
      const timer = new FakeTimer();
      const monitor = new EventLoopLag(timer.options);
      await monitor.start();
      timer.late(...delays);
      expect(monitor.ms).to.equal(lag);
      await monitor.stop();
    });
  }

  it('ends with its stop, which may come twice and before the start', async () => {
    const timer = new FakeTimer();
    const monitor = new EventLoopLag(timer.options);
    await monitor.stop();
    await monitor.start();
    timer.late(400, 400, 400);
    await monitor.stop();
    await monitor.stop();
    expect(timer.ticks).to.have.lengthOf(0);
    expect(monitor.ms).to.equal(0);
    await monitor.start();
    timer.late(400);
    expect(monitor.ms).to.equal(0);
  });

  it('is seen on a real event loop, and gone soon after it', async function () {
    this.timeout(240_000);
    const monitor = new EventLoopLag();
    await monitor.start();
    try {
      while (monitor.ms <= 250) {
        const busyUntil = performance.now() + 400;
        while (performance.now() < busyUntil);
        await new Promise((resolve) => setImmediate(resolve));
      }
      while (monitor.ms > 250) await new Promise((resolve) => setImmediate(resolve));
    } finally {
      await monitor.stop();
    }
  });
});

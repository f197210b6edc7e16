// Loaded into a process of the service before its program (node --import): at a point that the harness has armed over the process's
// channel, the process sends itself a signal. Points are put into a copy of the compiled program (fault-points.ts); the product has none.

/** @type {Map<string, string>} armed points and their signals */
const armed = new Map();

process.on('message', (message) => {
  const { type, point, signal } = /** @type {{ type?: string, point?: string, signal?: string }} */ (message);
  if (type === 'arm-fault' && point !== undefined && signal !== undefined) armed.set(point, signal);
  if (type === 'disarm-faults') armed.clear();
});

/** @param {string} point */
const strike = (point) => {
  const signal = armed.get(point);
  if (signal === undefined) return;
  armed.delete(point);
  process.kill(process.pid, signal);
};

Object.assign(globalThis, {
  faultPoint: strike,
  /**
   * The same, a second after the program came there and was held up: what may overtake it has done so by then.
   * @param {string} point
   */
  async heldFaultPoint(point) {
    if (!armed.has(point)) return;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    strike(point);
  },
  /**
   * The parts of a body; the point is reached when half of them are on their way.
   * @param {string} point @param {readonly Buffer[]} body
   */
  async *faultInBody(point, body) {
    const all = Buffer.concat(body);
    const half = all.length >> 1;
    yield all.subarray(0, half);
    if (armed.has(point)) {
      await new Promise((resolve) => setTimeout(resolve, 50)); // until the first half has left
      strike(point);
    }
    yield all.subarray(half);
  },
});

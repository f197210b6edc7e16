// Loaded into a process of the service before its program (node --import, with what is off and what is shorter in the query of its URL): the
// hook of pipeline/core/fault-points.ts. At a point that the harness has armed over the process's channel, the process sends itself a signal.

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

/**
 * Strikes a second after the program came there and was held up: what may overtake it has done so by then.
 * @param {string} point
 */
async function strikeLater(point) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  strike(point);
}

/**
 * The parts of a body; the point is reached when half of them are on their way.
 * @param {string} point @param {readonly Buffer[]} body
 */
async function* halves(point, body) {
  const all = Buffer.concat(body);
  const half = all.length >> 1;
  yield all.subarray(0, half);
  if (armed.has(point)) {
    await new Promise((resolve) => setTimeout(resolve, 50)); // until the first half has left
    strike(point);
  }
  yield all.subarray(half);
}

/** Outputs among which are those of the volume, which every record with entries has sooner or later. */
const haveCounters = (/** @type {unknown} */ records) =>
  /** @type {readonly { topic: string }[]} */ (records).some(({ topic }) => topic === 'counters.v1');

const { searchParams } = new URL(import.meta.url);
/** @type {import('../../pipeline/core/fault-points.ts').FaultHook} */
const hook = {
  reach(point, about) {
    if (!armed.has(point)) return undefined;
    if (point === 'before-outputs') return haveCounters(about) ? strikeLater(point) : undefined;
    strike(point);
    return undefined;
  },
  within: (point, head, body) => (head.startsWith('INSERT INTO logs') ? halves(point, body) : body),
  off: JSON.parse(searchParams.get('off') ?? '[]'),
  periodsMs: JSON.parse(searchParams.get('periods') ?? '{}'),
};

Object.assign(globalThis, { [Symbol.for('logweir.fault-hook')]: hook });

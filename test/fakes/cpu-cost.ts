/** CPU of this process, in microseconds. */
function spent(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

let reference = 0;

/** CPU that `JSON.parse` takes for 2 MB of ordinary entries on this machine right now: the least of a few tries, microseconds. */
function referenceCost(): number {
  if (reference > 0) return reference;
  const entry = { _time: '2026-11-20T13:54:59.000Z', _msg: 'payment started with id 13c2a6a7', app: 'web', status: 200, user: { id: 7 } };
  const text = `[${Array.from({ length: 16_000 }, () => JSON.stringify(entry)).join(',')}]`;
  const tries = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    JSON.parse(text);
    return spent(before);
  });
  reference = Math.min(...tries);
  return reference;
}

/**
 * What something costs, in times of the CPU that `JSON.parse` takes for 2 MB. A bound on it holds on slow and busy machines; what
 * grows with the square of a body of 2 MB is thousands of times above.
 */
export function cpuCost(run: () => unknown): number {
  const unit = referenceCost();
  const before = process.cpuUsage();
  run();
  return spent(before) / unit;
}

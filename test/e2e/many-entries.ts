/** Entries of the last minutes for pages that show many: five alike in a row, a quarter of each level, and fields that few of them have. */
export function manyEntries(many: number): readonly object[] {
  const now = Date.now();
  const rare = Object.fromEntries(Array.from({ length: 60 }, (_none, of) => [`rare_${String(of)}`, 'yes']));
  return Array.from({ length: many }, (_none, at) => ({
    _time: new Date(now - at * 100).toISOString(),
    service: ['api', 'web', 'db'][Math.floor(at / 5) % 3],
    level: ['info', 'error', 'warn', 'debug'][Math.floor(at / 5) % 4],
    _msg: `request ${String(at)} took ${String(at % 97)} ms`,
    app: 'shop',
    zone: `z${String(at % 3)}`,
    ...(at % 50 === 0 ? rare : {}),
  }));
}

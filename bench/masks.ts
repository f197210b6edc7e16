/**
 * `npm run -s bench:masks`: CPU time for each line of masks and fingerprint together, on the lines of the benchmark's Loghub sets (in the
 * folder of `LOGWEIR_SHARED`), whose shapes repeat, and on lines of which no two have the same shape. The least of many rounds.
 */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Shapes } from '../pipeline/clusterer/shapes.ts';

const shared = process.env['LOGWEIR_SHARED'] ?? '../shared';
const sets = path.join(shared, 'conformance/clusters/loghub');
const ROUNDS = 40;

/** Lines in one buffer, as a record of the log has them, in an order in which the sets alternate. */
function lay(lines: readonly string[]): { readonly bytes: Buffer; readonly ends: Int32Array } {
  const ends = new Int32Array(lines.length + 1);
  const parts = lines.map((line) => Buffer.from(line));
  parts.forEach((part, index) => (ends[index + 1] = (ends[index] as number) + part.length));
  return { bytes: Buffer.concat(parts), ends };
}

function mixed(kind: string): string[] {
  const lists = readdirSync(sets).map((set) =>
    readFileSync(path.join(sets, set, `${kind}.log`), 'utf8')
      .trim()
      .split(/\r?\n/),
  );
  const lines: string[] = [];
  for (let index = 0; index < 2000; index += 1) for (const list of lists) lines.push(...list.slice(index, index + 1));
  return lines;
}

const word = (number: number): string => number.toString(26).replace(/[0-9]/g, (digit) => 'qrstuvwxyz'[Number(digit)] as string);

function unlike(count: number, round: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const own = word(1_000_003 * (round * count + index) + 77);
    return `worker ${own} took ${index} ms for order 1234-${index} of customer ${own} at 10.0.0.${index % 250}, next attempt in 5 seconds`;
  });
}

function measure(name: string, rounds: number, lines: (round: number) => readonly string[]): void {
  const shapes = new Shapes();
  let least = Infinity;
  let bytesALine = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { bytes, ends } = lay(lines(round));
    const count = ends.length - 1;
    bytesALine = bytes.length / count;
    const before = process.cpuUsage();
    for (let index = 0; index < count; index += 1) shapes.read(bytes, ends[index] as number, ends[index + 1] as number);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / count);
  }
  const perSecond = Math.round(1e6 / least / 1000);
  process.stdout.write(`${name}: ${least.toFixed(2)} µs a line of ${bytesALine.toFixed(0)} bytes, ${perSecond.toFixed(0)},000 lines/s\n`);
}

for (const kind of ['content', 'raw']) {
  const lines = mixed(kind);
  measure(`shapes that repeat (${kind})`, ROUNDS, () => lines);
}
measure('no shape twice', 10, (round) => unlike(20_000, round));

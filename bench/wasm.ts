/**
 * `npm run bench:wasm`: CPU of one core for LZ4 and CRC-32C, in WebAssembly and in TypeScript, over columns of 2,000 logs.
 *   npm run bench:wasm -- [--seconds 1]
 * Forms are measured in turns, several rounds over, so that a machine that drifts does not favour one; the median round is shown.
 */
import { parseArgs } from 'node:util';
import { crc32c } from '../pipeline/compression/crc32c.ts';
import { wasmCrc32c } from '../pipeline/wasm/crc32c.ts';
import { lz4Bound, typescriptLz4, wasmLz4, type Lz4 } from '../pipeline/wasm/lz4.ts';
import { wasm } from '../pipeline/wasm/module.ts';
import { logColumns } from './wire/columns.ts';
import { benchLogs } from './wire/logs.ts';

const { values: flags } = parseArgs({ options: { seconds: { type: 'string', default: '1' } } });
const ROUNDS = 5;
if (wasm === undefined) throw new Error('The WebAssembly module is not built.');

const columns = logColumns(benchLogs(2000, Date.now()));
const forms: readonly (readonly [string, Lz4])[] = [
  ['WebAssembly', wasmLz4(wasm)],
  ['TypeScript', typescriptLz4()],
];
const target = new Uint8Array(Math.max(lz4Bound(columns.length), columns.length));
const checksums = { WebAssembly: wasmCrc32c(wasm), TypeScript: crc32c };

const jobs = new Map<string, () => void>();
const ratios: string[] = [];
for (const [name, form] of forms) {
  const block = new Uint8Array(lz4Bound(columns.length));
  const length = form.compress(columns, 0, columns.length, block, 0);
  ratios.push(`${name}: ${String(columns.length)} bytes to ${String(length)}`);
  jobs.set(`LZ4 compress | ${name}`, () => form.compress(columns, 0, columns.length, target, 0));
  jobs.set(`LZ4 decompress | ${name}`, () => {
    if (!form.decompress(block, 0, length, target, 0, columns.length)) throw new Error('It was not read.');
  });
}
for (const [name, sum] of Object.entries(checksums)) jobs.set(`CRC-32C | ${name}`, () => sum(columns));

/** µs of CPU for each KB of columns, over some seconds. */
function measure(job: () => void, seconds: number): number {
  const before = process.cpuUsage();
  const end = performance.now() + seconds * 1000;
  let times = 0;
  for (; performance.now() < end; times++) job();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times / (columns.length / 1000);
}

for (const job of jobs.values()) measure(job, 0.3);
const rounds = new Map([...jobs.keys()].map((name): [string, number[]] => [name, []]));
for (let round = 0; round < ROUNDS; round++)
  for (const [name, job] of jobs) rounds.get(name)?.push(measure(job, Number(flags.seconds) / ROUNDS));
process.stdout.write(`${ratios.join('; ')}\n\n| what | form | CPU µs a KB | MB/s of one core |\n|---|---|---|---|\n`);
for (const [name, figures] of rounds) {
  const median = figures.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? NaN;
  process.stdout.write(`| ${name} | ${median.toFixed(2)} | ${(1000 / median).toFixed(0)} |\n`);
}

/**
 * `npm run bench:own-readers [-- --rounds 5] [--only NAME]`: each piece that we wrote ourselves (docs/adr/0005-own-readers.md) against the library
 * that could do it: the same work with the same result, CPU µs an entry. Each measurement is a process of its own, in turns; the table shows the
 * medians. The libraries that Logweir does not depend on are installed into `.bench/libraries` first.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROWS } from './readers/rows.ts';

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, only: { type: 'string', default: '' } } });
const root = path.resolve(import.meta.dirname, '..');
const LIBRARIES = ['@msgpack/msgpack@3.1.3', 'snappyjs@0.7.0', 'lz4js@0.2.0', 'kafkajs-snappy@1.1.0'];
const MEASURE = path.join(import.meta.dirname, 'readers', 'measure.ts');

const folder = path.join(root, '.bench', 'libraries');
if (!LIBRARIES.every((one) => existsSync(path.join(folder, 'node_modules', one.replace(/@[\d.]+$/, ''))))) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...LIBRARIES], { cwd: folder, stdio: 'inherit' });
}

/** The share of `part` in the middle of sorted figures. */
const median = (figures: number[]): number => figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? NaN;

function measure(name: string, side: 'own' | 'library'): number {
  const printed = execFileSync(process.execPath, [MEASURE, name, side], { cwd: root });
  return Number(printed.toString());
}

const rows = ROWS.filter(({ name }) => name.includes(flags.only)).map((row) => ({ ...row, own: [] as number[], library: [] as number[] }));
for (let round = 1; round <= Number(flags.rounds); round++) {
  process.stderr.write(`round ${String(round)} of ${flags.rounds}\n`);
  for (const row of rows) {
    row.own.push(measure(row.name, 'own'));
    row.library.push(measure(row.name, 'library'));
  }
}
process.stdout.write('| own | instead of | for | own, µs | library, µs | library/own |\n|---|---|---|--:|--:|--:|\n');
for (const { name, instead, unit, own, library } of rows) {
  const [ours, theirs] = [median(own), median(library)];
  process.stdout.write(`| ${name} | ${instead} | ${unit} | ${ours.toFixed(2)} | ${theirs.toFixed(2)} | ${(theirs / ours).toFixed(2)} |\n`);
}

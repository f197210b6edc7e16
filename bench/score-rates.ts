/**
 * `npm run -s score:rates -- RATES.csv ALERTS.csv`: runs the detectors `log_rate` and `silence`, as the service does, over counts by minute
 * (`minute,<stream>,<stream>,…`), and writes the alerts (`stream,fired,resolved`, in minutes). `fired` is the last minute whose counts were used. What comes
 * late is told by a file late_<seed>.csv beside one that is called rates_<seed>.csv, with `--late`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Finding } from '../pipeline/detectors/detector.ts';
import { newSeries } from '../pipeline/detectors/series/series.ts';

const { positionals, values: flags } = parseArgs({ allowPositionals: true, options: { late: { type: 'boolean', default: false } } });
const [rates = '', alerts = ''] = positionals;
if (positionals.length !== 2) throw new Error('It takes two files: RATES.csv ALERTS.csv');
/** Minute 0 of a file, as minutes since 1970: a Monday, 00:00. */
const START = 29_000_160;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

const lines = (file: string): string[][] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(','));

/** What comes late, by the stream and the minute of its entries: when, and how much. */
function lateOf(file: string): Map<string, (readonly [number, number])[]> {
  const late = new Map<string, (readonly [number, number])[]>();
  if (!flags.late || !existsSync(file)) return late;
  for (const [stream, minute, arrival, count] of lines(file).slice(1)) {
    const key = `${String(stream)} ${String(minute)}`;
    late.set(key, [...(late.get(key) ?? []), [Number(arrival), Number(count)]]);
  }
  return late;
}

const [head = [], ...rows] = lines(rates);
const names = head.slice(1);
const late = lateOf(path.join(path.dirname(rates), path.basename(rates).replace('rates_', 'late_')));
const began = process.cpuUsage();
const out: string[] = ['stream,fired,resolved'];
let largest = 0;
names.forEach((name, column) => {
  const series = newSeries();
  const found = new Map<string, Finding>();
  /** What comes in a minute: of which minutes, and how much. */
  const arrivals = new Map<number, (readonly [number, number])[]>();
  for (const row of rows) {
    const minute = Number(row[0]);
    let left = Number(row[column + 1]);
    for (const [arrival, count] of late.get(`${name} ${String(minute)}`) ?? []) {
      // both kinds of lateness may name the same entries
      const held = Math.min(left, count);
      left -= held;
      if (held > 0) arrivals.set(arrival, [...(arrivals.get(arrival) ?? []), [minute, held]]);
    }
    const endMs = (START + minute) * MINUTE_MS + MINUTE_MS - 1;
    if (left > 0) series.add(START + minute, { entries: left, errors: 0 }, endMs);
    for (const [from, count] of arrivals.get(minute) ?? []) series.add(START + from, { entries: count, errors: 0 }, endMs);
    arrivals.delete(minute);
    for (const finding of series.tick(endMs)) found.set(`${finding.detector} ${finding.side} ${String(finding.firedAt)}`, finding);
    if (minute % DAY_MINUTES === 0) largest = Math.max(largest, series.snapshot().length);
  }
  for (const { firedAt, state, updatedAt } of found.values())
    out.push([name, firedAt - START, state === 'resolved' ? updatedAt - START : ''].join(','));
});
writeFileSync(alerts, `${out.join('\n')}\n`);
const { user, system } = process.cpuUsage(began);
process.stderr.write(
  `${String(names.length)} streams, ${String(rows.length)} minutes, ${((user + system) / rows.length / names.length).toFixed(1)} µs of CPU a stream-minute, ${String(largest)} bytes of state at most\n`,
);

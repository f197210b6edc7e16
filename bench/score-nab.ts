/**
 * `npm run -s score:nab -- DATA_DIR OUT_DIR`: runs the detector of values, as it is, over the files of the Numenta Anomaly Benchmark
 * (`DATA_DIR/<category>/<file>.csv`, columns `timestamp,value`), and writes a file of the same name with `timestamp,anomaly_score` for each: 1 where
 * an alert fires, else 0.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ValueSeries } from '../pipeline/detectors/values/value-series.ts';

const [data = '', out = '', ...more] = process.argv.slice(2);
if (out === '' || more.length > 0) throw new Error('It takes two folders: DATA_DIR OUT_DIR');
const MINUTE_MS = 60_000;
/** The time from one value to the next is what most of the first ones have. */
const FIRST = 200;

type Row = { readonly timestamp: string; readonly minute: number; readonly value: number };

function rowsOf(file: string): Row[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => {
    const [timestamp = '', value] = line.split(',');
    const iso = `${timestamp.replace(' ', 'T').split('.')[0] ?? ''}Z`;
    return { timestamp, minute: Math.floor(Date.parse(iso) / MINUTE_MS), value: Number(value) };
  });
}

function stepOf(rows: readonly Row[]): number {
  const steps = rows.slice(1, FIRST).map(({ minute }, index) => minute - (rows[index] as Row).minute);
  return Math.max(1, steps.sort((a, b) => a - b)[steps.length >> 1] ?? 1);
}

const began = process.cpuUsage();
let [count, alerts, largest] = [0, 0, 0];
const categories = readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isDirectory());
for (const { name: category } of categories)
  for (const file of readdirSync(path.join(data, category)).filter((name) => name.endsWith('.csv'))) {
    const rows = rowsOf(path.join(data, category, file));
    const series = new ValueSeries(stepOf(rows));
    const lines = rows.map(({ timestamp, minute, value }) => {
      const finding = series.add(minute, value);
      const isNew = finding?.state === 'firing' && finding.fireCount === 1;
      if (isNew) alerts += 1;
      return `${timestamp},${isNew ? '1' : '0'}`;
    });
    largest = Math.max(largest, series.snapshot().length);
    count += rows.length;
    mkdirSync(path.join(out, category), { recursive: true });
    writeFileSync(path.join(out, category, file), `timestamp,anomaly_score\n${lines.join('\n')}\n`);
  }
const { user, system } = process.cpuUsage(began);
process.stderr.write(
  `${String(count)} values, ${String(alerts)} alerts, ${((user + system) / count).toFixed(1)} µs of CPU a value, ${String(largest)} bytes of state at most\n`,
);

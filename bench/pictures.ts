/**
 * `npm run -s docs:pictures -- OUT_DIR [NAB_DATA_DIR]`: the pictures of docs/detection.md, by the code of `logweir backtest`: each detector on a generated
 * stream with an incident, and, with the folder of the Numenta Anomaly Benchmark's data, the detector of values on three of its series. SVG and PNG.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { svgOf } from '../cli/backtest/picture.ts';
import { pngOf } from '../cli/backtest/png.ts';
import { replayOf } from '../cli/backtest/replay.ts';
import { alertsOf } from '../pipeline/detectors/replayed.ts';
import type { Finding } from '../pipeline/detectors/detector.ts';
import type { Point } from '../pipeline/detectors/custom.ts';
import { ValueSeries } from '../pipeline/detectors/values/value-series.ts';

const [out = '', nab] = process.argv.slice(2);
if (out === '') throw new Error('It takes a folder: OUT_DIR [NAB_DATA_DIR]');
mkdirSync(out, { recursive: true });
/** A Monday, 00:00, as minutes since 1970. */
const START = 29_000_160;
const [MINUTE_MS, HOUR, DAY] = [60_000, 60, 1440];

function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** About a Poisson variable of this mean. */
function counted(mean: number, next: () => number): number {
  if (mean > 40)
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next())));
  let count = 0;
  for (let product = next(); product > Math.exp(-mean); product *= next()) count += 1;
  return count;
}

type Generated = {
  readonly detector: string;
  readonly what: string;
  readonly entries: (minute: number) => number;
  readonly errors: (minute: number) => number;
  /** Three without it. */
  readonly days?: number;
};

/** More by day than by night. */
const daily = (minute: number): number => 60 * (1 + 0.6 * Math.sin(((minute - 9 * HOUR) / DAY) * 2 * Math.PI));
const few = (minute: number): number => 0.01 * daily(minute);
const within = (minute: number, from: number, length: number): boolean => minute >= from && minute < from + length;
const [SECOND, THIRD] = [DAY + 15 * HOUR, 2 * DAY + 11 * HOUR];

const GENERATED: readonly Generated[] = [
  { detector: 'log_rate', what: 'a peak of eight minutes, and half of the entries missing for an hour and a half', errors: few,
    entries: (minute) => daily(minute) * (within(minute, SECOND, 8) ? 4 : within(minute, THIRD, 90) ? 0.45 : 1) },
  { detector: 'error_rate', what: 'a release after which a fifth of the requests fail, taken back after 50 minutes', entries: daily,
    errors: (minute) => (within(minute, THIRD, 50) ? 0.2 * daily(minute) : few(minute)) },
  { detector: 'pattern_rate', what: 'bursts that are known, and an error that comes 20 times as often', days: 5, errors: () => 0,
    entries: (minute) => (within(minute, 4 * DAY + 11 * HOUR, 40) ? 12 : minute % 1170 < 4 ? 9 : 0.6) },
  { detector: 'silence', what: 'a restart of two minutes, and a stop of forty', errors: few,
    entries: (minute) => (within(minute, SECOND, 2) || within(minute, THIRD, 40) ? 0 : daily(minute)) },
]; // prettier-ignore

type Drawn = { readonly name: string; readonly title: string; readonly subtitle: string; readonly unit: string; readonly points: readonly Point[]; readonly isErrors?: boolean; readonly findings: readonly Finding[] }; // prettier-ignore

async function draw({ name, title, subtitle, unit, points, isErrors = false, findings }: Drawn): Promise<void> {
  const alerts = alertsOf(findings);
  const svg = svgOf({ title, subtitle, unit, points, valueOf: ({ value, errors }) => (isErrors ? errors : value), alerts });
  writeFileSync(path.join(out, `${name}.svg`), svg);
  writeFileSync(path.join(out, `${name}.png`), await pngOf(svg));
  process.stderr.write(`${name}: ${String(alerts.length)} alerts, ${String(Math.round(svg.length / 1024))} KiB\n`);
}

for (const { detector, what, entries, errors, days = 3 } of GENERATED) {
  const next = random(7);
  const points = Array.from({ length: days * DAY }, (_none, minute): Point => {
    const [wrong, all] = [counted(errors(minute), next), counted(entries(minute), next)];
    return { minute: START + minute, value: all, entries: all, errors: Math.min(all, wrong) };
  });
  const isErrors = detector === 'error_rate';
  const unit = isErrors || detector === 'pattern_rate' ? 'errors a minute' : 'entries a minute';
  const { run } = await replayOf(detector);
  await draw({ name: detector, title: `${detector}: ${what}`, subtitle: `a generated stream of ${String(days)} days (UTC)`, unit, points, isErrors, findings: run(points) }); // prettier-ignore
}

/** Series of the benchmark, and the time from one value to the next, minutes. */
const NAB: readonly (readonly [file: string, step: number, unit: string])[] = [
  ['realKnownCause/machine_temperature_system_failure', 5, 'temperature'],
  ['realKnownCause/nyc_taxi', 30, 'passengers in 30 minutes'],
  ['realKnownCause/ec2_request_latency_system_failure', 5, 'latency'],
];

for (const [file, step, unit] of nab === undefined ? [] : NAB) {
  const series = new ValueSeries(step);
  const lines = readFileSync(path.join(nab as string, `${file}.csv`), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  const points = lines.map((line): Point => {
    const [timestamp = '', value] = line.split(',');
    return { minute: Math.floor(Date.parse(`${timestamp.replace(' ', 'T')}Z`) / MINUTE_MS), value: Number(value), entries: 1, errors: 0 };
  });
  const findings = points.flatMap(({ minute, value }) => series.add(minute, value as number) ?? []);
  await draw({
    name: path.basename(file),
    title: `value: ${path.basename(file)}`,
    subtitle: `Numenta Anomaly Benchmark, ${file}`,
    unit,
    points,
    findings,
  });
}

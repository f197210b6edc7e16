import { defaultExport } from '../../pipeline/core/default-export.ts';
import { CustomSeries, detectorFault, type CustomDetector, type Point } from '../../pipeline/detectors/custom.ts';
import type { Finding } from '../../pipeline/detectors/detector.ts';
import { detectors } from '../../pipeline/detectors/index.ts';
import { newSeries } from '../../pipeline/detectors/series/series.ts';
import { VALUE, ValueSeries } from '../../pipeline/detectors/values/value-series.ts';
import { UsageError } from '../output.ts';

const MINUTE_MS = 60_000;

/** A detector that history is given to. */
export type Replay = {
  readonly name: string;
  /** What it finds in the minutes of a series, in their order, none left out. */
  readonly run: (points: readonly Point[]) => Finding[];
};

/** The detector of a name (of the service's own), or of a file. Throws UsageError where there is none. */
export async function replayOf(name: string): Promise<Replay> {
  if (name === VALUE) return { name, run: runValues };
  if (detectors.find(name) !== undefined) return { name, run: (points) => runCounts(name, points) };
  if (!/[./\\]/.test(name))
    throw new UsageError(`There is no detector ${JSON.stringify(name)}: give a file, or one of ${[...detectors.names, VALUE].join(', ')}.`);
  const found = await defaultExport(name, 'detector');
  const fault = detectorFault(found);
  if (fault !== null) throw new UsageError(`The detector ${name} cannot be used: ${fault}`);
  const detector = found as CustomDetector;
  return { name: detector.name, run: (points) => runCustom(detector, points) };
}

/** All of them look, as in the service, where what one tells another does not; what this one finds is given. */
function runCounts(name: string, points: readonly Point[]): Finding[] {
  const series = newSeries();
  return points.flatMap(({ minute, entries, errors }) => {
    const end = (minute + 1) * MINUTE_MS - 1;
    series.add(minute, { entries, errors }, end);
    return series.tick(end).filter(({ detector }) => detector === name);
  });
}

function runValues(points: readonly Point[]): Finding[] {
  const series = new ValueSeries(1);
  return points.flatMap(({ minute, value }) => (value === null ? [] : (series.add(minute, value) ?? [])));
}

function runCustom(detector: CustomDetector, points: readonly Point[]): Finding[] {
  const series = new CustomSeries(detector);
  return points.flatMap((point) => series.add(point) ?? []);
}

/** An alert, from its first finding to its last one. */
export type ReplayedAlert = {
  readonly detector: string;
  readonly side: Finding['side'];
  readonly firedAt: number;
  /** Null where it still fires. */
  readonly resolvedAt: number | null;
  readonly fireCount: number;
  /** What it said when it was furthest away. */
  readonly z: number;
  readonly value: number;
  /** What was expected when it fired. */
  readonly expected: Finding['expected'];
};

/** The alerts that findings tell, in the order in which they fired. */
export function alertsOf(findings: readonly Finding[]): ReplayedAlert[] {
  const alerts = new Map<string, ReplayedAlert>();
  for (const { detector, side, firedAt, state, updatedAt, fireCount, z, value, expected } of findings) {
    const key = `${detector} ${side} ${String(firedAt)}`;
    const before = alerts.get(key) ?? { z, value, expected };
    const furthest = state === 'firing' && Math.abs(z) > Math.abs(before.z) ? { z, value } : { z: before.z, value: before.value };
    const resolvedAt = state === 'resolved' ? updatedAt : null;
    alerts.set(key, { detector, side, firedAt, resolvedAt, fireCount, ...furthest, expected: before.expected });
  }
  return [...alerts.values()].sort((a, b) => a.firedAt - b.firedAt);
}

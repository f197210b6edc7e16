import { registry } from '../core/registry.ts';
import type { Point } from './custom.ts';
import type { Finding, Side } from './detector.ts';
import { detectors } from './index.ts';
import { newSeries, restoreSeries } from './series/series.ts';
import { VALUE, ValueSeries } from './values/value-series.ts';

const MINUTE_MS = 60_000;

/** A series of minutes that one detector looks at: of a stream, of a service, of a rule. No clock, no chance, no IO. */
export interface PointSeries {
  /** Takes the next minute, each once and in order; what that tells. */
  add(point: Point): readonly Finding[];
  /** Somebody has resolved the alert of this side by hand: nothing more is told of it. */
  resolve(side: Side): void;
  /** A state that `restoreSeries` reads; at most 8 KiB. */
  snapshot(): Buffer;
}

/** A detector as it is asked by points: of counts, of values, or of one's own (`pointDetectorOf`). */
export interface PointDetector {
  readonly name: string;
  /** When it fires: a sentence. */
  readonly description: string;
  newSeries(): PointSeries;
  /** The series of a snapshot; null for any other bytes. */
  restoreSeries(bytes: Buffer): PointSeries | null;
}

/** Compares a value by the minute with its own past; minutes without one are passed over. */
const values: PointDetector = {
  name: VALUE,
  description: 'A value leaves its own past.',
  newSeries: () => valuesOf(new ValueSeries(1)),
  restoreSeries(bytes) {
    const series = ValueSeries.restore(bytes);
    return series === null ? null : valuesOf(series);
  },
};

const valuesOf = (series: ValueSeries): PointSeries => ({
  add({ minute, value }) {
    const finding = value === null ? null : series.add(minute, value);
    return finding === null ? [] : [finding];
  },
  resolve: (side) => series.resolve(side),
  snapshot: () => series.snapshot(),
});

/** A detector of counts, asked at the end of each minute: all of them look, as in the service, and what this one finds is told. */
const countsOf = (name: string, description: string): PointDetector => {
  const seriesOf = (series: ReturnType<typeof newSeries>): PointSeries => ({
    add({ minute, entries, errors }) {
      const end = (minute + 1) * MINUTE_MS - 1;
      series.add(minute, { entries, errors }, end);
      return series.tick(end).filter(({ detector }) => detector === name);
    },
    resolve: (side) => series.resolve(name, side),
    snapshot: () => series.snapshot(),
  });
  return {
    name,
    description,
    newSeries: () => seriesOf(newSeries()),
    restoreSeries(bytes) {
      const series = restoreSeries(bytes);
      return series === null ? null : seriesOf(series);
    },
  };
};

/** The service's own detectors, by points. */
export const pointDetectors = registry<PointDetector>(
  ({ name }) => [name],
  [...detectors.members.map(({ name, description }) => countsOf(name, description)), values],
);

import { registry } from '../core/registry.ts';
import type { Point } from './custom.ts';
import type { Finding } from './detector.ts';
import { detectors, patternDetectors } from './index.ts';
import { PatternSeries } from './series/pattern-series.ts';
import { newSeries, restoreSeries } from './series/series.ts';
import { VALUE, ValueSeries } from './values/value-series.ts';

const MINUTE_MS = 60_000;

/** A series of minutes that one detector looks at: of a stream, of a service, of a rule. No clock, no chance, no IO. */
export interface PointSeries {
  /** Takes the next point, each once and in order. `factor`: the sensitivity, above one for less of it; of values alone. */
  add(point: Point, factor?: number): readonly Finding[];
  /** A state that `restoreSeries` reads; at most 8 KiB. */
  snapshot(): Buffer;
}

/** A detector that is called for each point: of counts, of values, or of one's own (`pointDetectorOf`). */
export interface PointDetector {
  readonly name: string;
  /** When it fires: a sentence. */
  readonly description: string;
  /** A series that begins; `step`: minutes from one point to the next, 1 by default. */
  newSeries(step?: number): PointSeries;
  /** The series of a snapshot; null for any other bytes. */
  restoreSeries(bytes: Buffer): PointSeries | null;
}

/** Compares a value with its own past; points without one are calm, and nothing is learned of them. */
const values: PointDetector = {
  name: VALUE,
  description: 'A value leaves its own past.',
  newSeries: (step = 1) => valuesOf(new ValueSeries(step)),
  restoreSeries(bytes) {
    const series = ValueSeries.restore(bytes);
    return series === null ? null : valuesOf(series);
  },
};

const valuesOf = (series: ValueSeries): PointSeries => ({
  add({ minute, value }, factor) {
    const finding = value === null ? series.pass(minute) : series.add(minute, value, factor);
    return finding === null ? [] : [finding];
  },
  snapshot: () => series.snapshot(),
});

/** A detector of counts, called at the end of each minute: all of them look, as in the service, and the findings of this one are kept. */
const countsOf = (name: string, description: string): PointDetector => {
  const seriesOf = (series: ReturnType<typeof newSeries>): PointSeries => ({
    add({ minute, entries, errors }) {
      const end = (minute + 1) * MINUTE_MS - 1;
      series.add(minute, { entries, errors }, end);
      return series.tick(end).filter(({ detector }) => detector === name);
    },
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

/** A detector of the errors of a template: what comes is taken as those. */
const patternOf = (name: string, description: string): PointDetector => {
  const seriesOf = (series: PatternSeries): PointSeries => ({
    add({ minute, entries }) {
      const end = (minute + 1) * MINUTE_MS - 1;
      series.add(minute, entries, end);
      return series.tick(end).filter(({ detector }) => detector === name);
    },
    snapshot: () => series.snapshot(),
  });
  return {
    name,
    description,
    newSeries: () => seriesOf(new PatternSeries()),
    restoreSeries(bytes) {
      const series = PatternSeries.restore(bytes);
      return series === null ? null : seriesOf(series);
    },
  };
};

/** The service's own detectors, by points. */
export const pointDetectors = registry<PointDetector>(
  ({ name }) => [name],
  [
    ...detectors.members.map(({ name, description }) => countsOf(name, description)),
    ...patternDetectors.members.map(({ name, description }) => patternOf(name, description)),
    values,
  ],
);

/** What can watch the values of a rule (docs/rules.md): under the name that a rule has for it. */
export const valueDetectors = registry<PointDetector>(
  ({ name }) => [name],
  [
    {
      ...values,
      name: 'anomaly',
      description: 'The value leaves its own past: the last 60 windows, and the same time of yesterday or a week ago.',
    },
  ],
);

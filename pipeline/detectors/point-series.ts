import { registry } from '../core/registry.ts';
import type { Point } from './custom.ts';
import type { Finding, Side } from './detector.ts';
import { ValueSeries } from './values/value-series.ts';

/**
 * What one detector remembers of a series of points, one for each window of `step` minutes, in their order. No clock, no chance, no IO: what it
 * finds is a function of the calls. At most 4 KiB as a snapshot.
 */
export interface PointSeries {
  /** What the next point says, if anything. `factor`: the sensitivity, above one for less of it. */
  add(point: Point, factor: number): Finding | null;
  /** Somebody has resolved the alert of this side by hand: a new one fires only after it was back. */
  resolve(side: Side): void;
  snapshot(): Buffer;
}

/** A detector of points, by its name: what a rule may be watched by (docs/rules.md). */
export type PointDetector = {
  readonly name: string;
  /** When it fires: a sentence. */
  readonly description: string;
  /** A series that begins; `step`: minutes from one point to the next. */
  begin(step: number): PointSeries;
  /** The series of a snapshot; null for any other bytes. */
  restore(snapshot: Buffer, step: number): PointSeries | null;
};

const seriesOf = (values: ValueSeries): PointSeries => ({
  add: ({ minute, value }, factor) => (value === null ? values.pass(minute) : values.add(minute, value, factor)),
  resolve: (side) => {
    values.resolve(side);
  },
  snapshot: () => values.snapshot(),
});

/** `ValueSeries` as a detector of points. */
const anomaly: PointDetector = {
  name: 'anomaly',
  description: 'The value leaves its own past: the last 60 windows, and the same time of yesterday or a week ago.',
  begin: (step) => seriesOf(new ValueSeries(step)),
  restore: (snapshot) => {
    const values = ValueSeries.restore(snapshot);
    return values === null ? null : seriesOf(values);
  },
};

/** Every detector that can watch the values of a rule. Adding one: a line here. */
export const pointDetectors = registry<PointDetector>((detector) => [detector.name], [anomaly]);

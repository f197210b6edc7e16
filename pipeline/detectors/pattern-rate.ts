import { risen } from './departures.ts';
import type { PatternDetector } from './pattern-detector.ts';
import { DAY } from './track.ts';

/** A tenant has many templates: each must be so many times as far away as a stream. */
const FAR = 1.5;
/** It must have so many times as much as is usual, and so many errors more in the window: what is less of a change wakes nobody. */
const RATIO = 3;
const LEAST_MORE = 20;

/** The errors of one template become far more than its own past says; in the first day of a template it has none. */
export const patternRate: PatternDetector = {
  name: 'pattern_rate',
  description: 'The errors of one template become far more, while the errors of their streams as a whole do not.',
  rise(errors, end, factor, isRaw) {
    if (errors.age < DAY) return null;
    const found = risen(errors, end, FAR * factor, isRaw);
    if (found === null) return null;
    const [came, usual] = [found.value * found.scale, found.mean * found.scale];
    return came >= RATIO * usual && came - usual >= LEAST_MORE ? found : null;
  },
};

import { risen } from './departures.ts';
import type { PatternDetector } from './detector.ts';
import { DAY } from './track.ts';

/** A tenant has many templates: each must deviate by this multiple of what a stream must. */
const FAR = 1.5;
/** It must have `RATIO` times what is usual, and `LEAST_MORE` errors more in the window: a smaller change is not reported. */
const RATIO = 3;
const LEAST_MORE = 20;
/** Errors come in bursts: it must also have `BEYOND` times any window of its length in the last week; more in its first three days. */
const BEYOND = 3;
const BEYOND_YOUNG = 6;
const YOUNG = 3 * DAY;
/** What an hour has more than is usual may be long over. Minutes. */
const LONGEST = 15;
/** In the first day of a template, and until what came in it is known (`Peaks`), nothing is reported. Minutes. */
const LEARNING = DAY + 120;

/** The errors of one template become far more than its own past suggests. */
export const patternRate: PatternDetector = {
  name: 'pattern_rate',
  description: 'The errors of one template become far more, while the errors of their streams as a whole do not.',
  rise({ track, peaks }, end, factor, isRaw) {
    if (track.age < LEARNING) return null;
    const found = risen(track, end, FAR * factor, isRaw);
    if (found === null || found.scale > LONGEST) return null;
    const [came, usual] = [found.value * found.scale, found.mean * found.scale];
    const isFar = came >= RATIO * usual && came - usual >= LEAST_MORE;
    const most = (track.age < YOUNG ? BEYOND_YOUNG : BEYOND) * peaks.most(found.scale);
    return isFar && came >= most ? found : null;
  },
};

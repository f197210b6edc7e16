import type { CountDetector } from './detector.ts';
import { risen } from './departures.ts';
import { anscombe } from './statistics.ts';

/** Errors must have this multiple of their usual share, and be this many standard deviations above it: with all entries, errors grow. */
const SHARE = 1.25;
const LEAST_Z = 4;

/** Errors (severity error and fatal) become more, and more of all entries. */
export const errorRate: CountDetector = {
  name: 'error_rate',
  description: 'Errors (levels error and fatal) of a stream become more, and more of all its entries.',
  counts: 'errors',
  severity: 'critical',
  rise({ entries, errors }, end, factor, isRaw) {
    const found = risen(errors, end, factor, isRaw);
    if (found === null) return null;
    const all = entries.sum(end - found.scale + 1, end + 1);
    const usual = entries.expect(end, found.scale)?.recent ?? all;
    const [came, expected] = [found.value * found.scale, (found.mean * found.scale * all) / Math.max(1, usual)];
    return came >= SHARE * expected && anscombe(came) - anscombe(expected) >= LEAST_Z ? found : null;
  },
};

import type { CountDetector } from './count-detector.ts';
import { risen } from './departures.ts';

/** Of all entries so many times the usual share must be errors: where all of them become more, errors do too. */
const SHARE = 1.25;

/** Errors (severity error and fatal) become more, and more of all entries. */
export const errorRate: CountDetector = {
  name: 'error_rate',
  counts: 'errors',
  rise({ entries, errors }, end, factor, isRaw) {
    const found = risen(errors, end, factor, isRaw);
    if (found === null) return null;
    const all = entries.sum(end - found.scale + 1, end + 1);
    const usual = entries.expect(end, found.scale)?.recent ?? all;
    const share = (found.value * found.scale) / Math.max(1, all);
    return share >= (SHARE * found.mean * found.scale) / Math.max(1, usual) ? found : null;
  },
};

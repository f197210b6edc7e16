import { fallen, hasStopped, risen } from './departures.ts';
import type { CountDetector } from './detector.ts';

/** The rate of a stream leaves its own past, upwards or downwards. A stream that has stopped altogether is found by `silence`. */
export const logRate: CountDetector = {
  name: 'log_rate',
  description: 'The rate of a stream rises above or falls below its baseline.',
  counts: 'entries',
  severity: 'warning',
  rise: ({ entries }, end, factor, isRaw) => risen(entries, end, factor, isRaw),
  fall: ({ entries }, end, factor, isRaw) => (hasStopped(entries, end) ? null : fallen(entries, end, factor, isRaw)),
};

import { hasStopped, type CountDetector } from './count-detector.ts';
import { fallen, silent } from './departures.ts';

/** A stream that is never silent has no entries any more. Where it has some, however few, `log_rate` finds it. */
export const silence: CountDetector = {
  name: 'silence',
  description: 'A stream that is never silent has no entry any more.',
  counts: 'entries',
  fall: ({ entries }, end, factor, isRaw) =>
    silent(entries, end, factor) ?? (hasStopped(entries, end) ? fallen(entries, end, factor, isRaw) : null),
};

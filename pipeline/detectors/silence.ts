import { fallen, hasStopped, silent } from './departures.ts';
import type { CountDetector } from './detector.ts';

/** A stream that is never silent has no entries any more. Where it has some, however few, `log_rate` finds it. */
export const silence: CountDetector = {
  name: 'silence',
  description: 'A stream that is never silent has no entry any more.',
  counts: 'entries',
  severity: 'critical',
  text: ({ who, whose, minutes, usual }) => ({
    title: `${who} is silent`,
    description: `No entry of ${whose} came for ${minutes}, where ${usual} a minute are usual. It has stopped, or whatever ships its entries has.`,
  }),
  fall: ({ entries }, end, factor, isRaw) =>
    silent(entries, end, factor) ?? (hasStopped(entries, end) ? fallen(entries, end, factor, isRaw) : null),
};

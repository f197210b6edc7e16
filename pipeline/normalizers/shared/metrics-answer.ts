import type { Ack, Caps, Normalizer, Written } from '../normalizer.ts';

/** What the formats of metrics have in common: their plane, their errors, and that the account must have the feature. */
export const METRICS_PLANE: Pick<Normalizer, 'plane' | 'errors' | 'feature'> = { plane: 'app', errors: 'metrics', feature: 'metrics' };

const METRICS_BYTES = 8 * 1_048_576;
/** Caps of all of them but remote write. */
export const METRICS_CAPS: Caps = { wire: METRICS_BYTES, inflated: METRICS_BYTES };

/** The answer where some rows were rejected: how many of them, and the first; the others are kept. Null where none was. */
export function partialAnswer({ rejected, total }: Written, what: string): Ack | null {
  const [first] = rejected.first;
  if (first === undefined) return null;
  const detail = `${String(rejected.count)} of ${String(total)} ${what} were rejected, the others are kept; the first, number ${String(first.index + 1)}: ${first.reason}.`;
  return { status: 400, body: { detail } };
}

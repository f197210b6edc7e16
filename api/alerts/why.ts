/** The most frequent values of each field, and how many entries there are: what `/facets` finds in a window. */
export type FieldShares = { readonly entries: number; readonly fields: ReadonlyMap<string, ReadonlyMap<string, number>> };

/** A value whose share of the entries has changed. Shares from 0 to 1. */
export type Change = { readonly field: string; readonly value: string; readonly share: number; readonly baseline_share: number };

/** How many fields are reported. */
const MOST = 5;
/** Smaller changes do not count: in shares, and in standard deviations of the difference of two shares. */
const LEAST_CHANGE = 0.05;
const LEAST_Z = 4;
/** A value of fewer entries may be there by chance, as an id is. */
const LEAST_ENTRIES = 4;
/** Values that are in less than this of the window, and in none before, are ids mostly. */
const LEAST_NEW = 0.2;
/** What a share that has become smaller weighs. */
const FALLEN = 0.95;

/**
 * What has changed most between the baseline and a window: of each field the value that distinguishes the two best, the best one first.
 * That is measured by the Jensen-Shannon divergence of "has the value" (Lin, IEEE Trans. Inf. Theory 37, 1991), which is bounded, so that what is
 * new does not outdo what has become frequent.
 */
export function changesOf(window: FieldShares, baseline: FieldShares, passedOver: ReadonlySet<string>): Change[] {
  if (window.entries === 0 || baseline.entries === 0) return [];
  const fields = [...new Set([...window.fields.keys(), ...baseline.fields.keys()])].filter((field) => !passedOver.has(field));
  return fields
    .flatMap((field) => bestOf(field, window, baseline) ?? [])
    .sort((a, b) => b.weight - a.weight || (a.field < b.field ? -1 : 1))
    .slice(0, MOST)
    .map(({ field, value, share, baseline_share }) => ({ field, value, share: rounded(share), baseline_share: rounded(baseline_share) }));
}

function bestOf(field: string, window: FieldShares, baseline: FieldShares): (Change & { readonly weight: number }) | null {
  const [now, before] = [window.fields.get(field), baseline.fields.get(field)];
  let best: (Change & { readonly weight: number }) | null = null;
  for (const value of new Set([...(now?.keys() ?? []), ...(before?.keys() ?? [])])) {
    const share = (now?.get(value) ?? 0) / window.entries;
    const usual = (before?.get(value) ?? 0) / baseline.entries;
    if (!isChange(share, usual, window.entries, baseline.entries)) continue;
    // an increase weighs more than a decrease of the same size
    const weight = divergence(share, usual) * (share > usual ? 1 : FALLEN);
    if (best === null || weight > best.weight) best = { field, value, share, baseline_share: usual, weight };
  }
  return best;
}

function isChange(share: number, usual: number, entries: number, usualEntries: number): boolean {
  const change = Math.abs(share - usual);
  if (share > usual && (share * entries < LEAST_ENTRIES - 0.5 || (usual === 0 && share < LEAST_NEW))) return false;
  const pooled = (share * entries + usual * usualEntries) / (entries + usualEntries);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / entries + 1 / usualEntries));
  return change >= LEAST_CHANGE && change >= LEAST_Z * deviation;
}

function divergence(p: number, q: number): number {
  const middle = (p + q) / 2;
  return (part(p, middle) + part(1 - p, 1 - middle) + part(q, middle) + part(1 - q, 1 - middle)) / 2;
}

const part = (p: number, m: number): number => (p === 0 ? 0 : p * Math.log2(p / m));

const rounded = (share: number): number => Number(share.toFixed(3));

const percent = (share: number): string => `${share > 0 && share < 0.01 ? 'under 1' : String(Math.round(share * 100))} %`;

/** The changes as a sentence; empty where there are none. */
export function whyText(changes: readonly Change[]): string {
  const parts = changes
    .slice(0, 3)
    .map(({ field, value, share, baseline_share }) => `${field} ${value} (${percent(share)}, usually ${percent(baseline_share)})`);
  return parts.length === 0 ? '' : `What has changed most: ${parts.join('; ')}.`;
}

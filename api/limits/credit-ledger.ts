import type { Credits } from '../tenants/plans.ts';

export const DAY_MS = 86_400_000;
/** The UTC day of a time, since 1970. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** What credits are spent on; `share`: the limit of its own that it has in addition to the daily total. */
export const CREDIT_FEATURES = [
  { name: 'explain', words: 'explanations', share: null },
  { name: 'query', words: 'queries', share: null },
  { name: 'deep_rca', words: 'deep RCA', share: 'deepRca' },
  { name: 'playbook_import', words: 'playbook import', share: 'playbookImport' },
] as const satisfies readonly { readonly name: string; readonly words: string; readonly share: Exclude<keyof Credits, 'daily'> | null }[];
export type CreditFeature = (typeof CREDIT_FEATURES)[number]['name'];

/** A credit that a tenant wants to spend, and the limits that it had at that time. */
export type Spend = {
  readonly tenantId: number;
  readonly day: number;
  readonly feature: CreditFeature;
  readonly limit: number;
  readonly featureLimit: number;
};

/** `feature`: the share of the feature is used up, which is named before `total`. */
export type Verdict = 'spent' | 'feature' | 'total';

/** What a tenant has spent on a day. */
type Account = { total: number; readonly byFeature: Map<CreditFeature, number> };

/**
 * The topic `ai-credits.v1`, folded. A spend counts where it was within the limits at its place; the same record twice counts once. A pure function of
 * the records of a day.
 */
export class CreditLedger {
  /** By day, since records of the days before and after midnight may alternate. */
  readonly #days = new Map<number, Map<number, Account>>();
  /** The ids of the spends that count, and of what was given back; by day. */
  readonly #ids = new Map<number, Set<string>>();

  /** The verdict on a record; null for one that is no new spend. `today`: days before yesterday are forgotten. */
  fold(key: string, value: string | null, today: number): Verdict | null {
    this.#forget(today);
    const record = parse(value);
    if (record === null || record.day < today - 1 || record.day > today + 1) return null;
    const ids = this.#idsOf(record.day);
    if (ids.has(key)) return null;
    ids.add(key);
    if ('back' in record) {
      // only what counts can be given back
      if (ids.has(`counts:${record.back}`)) this.#add(record.tenantId, record.day, record.feature, -1);
      return null;
    }
    const verdict = this.wouldBe(record);
    if (verdict === 'spent') {
      ids.add(`counts:${key}`);
      this.#add(record.tenantId, record.day, record.feature, 1);
    }
    return verdict;
  }

  /** The verdict if it came now. */
  wouldBe({ tenantId, day, feature, limit, featureLimit }: Spend): Verdict {
    if (this.usedOf(tenantId, day, feature) >= featureLimit) return 'feature';
    return this.usedOf(tenantId, day) >= limit ? 'total' : 'spent';
  }

  /** What a tenant has spent on a day: in all, or on a feature. */
  usedOf(tenantId: number, day: number, feature?: CreditFeature): number {
    const account = this.#days.get(day)?.get(tenantId);
    return (feature === undefined ? account?.total : account?.byFeature.get(feature)) ?? 0;
  }

  #add(tenantId: number, day: number, feature: CreditFeature, count: number): void {
    const tenants = this.#days.get(day) ?? new Map<number, Account>();
    this.#days.set(day, tenants);
    const account = tenants.get(tenantId) ?? { total: 0, byFeature: new Map<CreditFeature, number>() };
    tenants.set(tenantId, account);
    account.total += count;
    account.byFeature.set(feature, (account.byFeature.get(feature) ?? 0) + count);
  }

  #idsOf(day: number): Set<string> {
    const ids = this.#ids.get(day) ?? new Set<string>();
    this.#ids.set(day, ids);
    return ids;
  }

  #forget(today: number): void {
    for (const days of [this.#days, this.#ids]) for (const day of days.keys()) if (day < today - 1) days.delete(day);
  }
}

type Parsed = Spend | { readonly back: string; readonly tenantId: number; readonly day: number; readonly feature: CreditFeature };

/** A record of version 1; null for any other, which a later release may write. */
function parse(value: string | null): Parsed | null {
  let record: Record<string, unknown> | null;
  try {
    record = JSON.parse(value ?? 'null') as Record<string, unknown> | null;
  } catch {
    return null;
  }
  if (record?.['v'] !== 1) return null;
  const { tenant, day, limit, feature_limit: featureLimit, back } = record;
  const feature = CREDIT_FEATURES.find(({ name }) => name === record['feature'])?.name;
  if (feature === undefined || !Number.isSafeInteger(tenant) || !Number.isSafeInteger(day)) return null;
  const of = { tenantId: tenant as number, day: day as number, feature };
  if (typeof back === 'string') return { ...of, back };
  return { ...of, limit: boundOf(limit), featureLimit: boundOf(featureLimit) };
}

const boundOf = (value: unknown): number => (typeof value === 'number' ? value : Infinity);

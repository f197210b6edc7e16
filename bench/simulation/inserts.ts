import type { PaceLimits } from '../../pipeline/bus/consumer/insert-pace.ts';
import { retentionClass } from '../../pipeline/intake/retention.ts';
import { valueOf } from './figures.ts';
import type { Tenant } from './tenants.ts';

/** How one sink process inserts where entries come at an even rate. */
export type Inserts = { readonly perSecond: number; readonly rows: number };

/** By the limits of the sink's pace: what has come when a wait ends is stored, unless it is enough for a longer one. */
export function insertsOf(rate: number, { rows, bytes, waits }: PaceLimits): Inserts {
  const most = Math.min(rows, bytes / valueOf('logBytes'));
  const wait = waits.find((one) => (rate * one.ms) / 1000 < one.rows) ?? waits.at(-1);
  if (wait === undefined) throw new Error('BUG: a pace without waits.');
  const gathered = Math.min(most, (rate * wait.ms) / 1000);
  return { perSecond: gathered === 0 ? 0 : rate / gathered, rows: gathered };
}

/** How many parts an insert makes: one for each retention class and day that it has entries of. */
export function partsOfInsert(tenants: readonly Tenant[]): number {
  const classes = new Set(tenants.map(({ plan }) => retentionClass(plan.retentionDays)));
  return classes.size * (1 + valueOf('lateShare'));
}

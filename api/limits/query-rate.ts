import { rateLimited } from '../../pipeline/core/errors.ts';
import type { Principal } from '../tenants/principal.ts';
import { callRate, type CallRateOptions } from './call-rate.ts';
import { MAX_RATE } from './token-bucket.ts';

/** Counts one query of a key, or throws a 429 with the time to wait. */
export type QueryRate = (principal: Principal) => void;
/** The same, which tells how much of it is used. */
export type KnownQueryRate = QueryRate & {
  /** Queries of the key that count for its rate now; null where it has none. */
  usedBy(principal: Principal): number | null;
};

/** The wait where a plan allows no query at all. Seconds. */
const BLOCKED_RETRY_AFTER = 60;

const callsOf = (tenantId: number, keyId: string): string => `queries/${String(tenantId)}/${keyId}`;

/** The rate of each key is that of its plan; above MAX_RATE: none. */
export function queryRate(options: CallRateOptions = {}): KnownQueryRate {
  const waitOf = callRate(options);
  const usedBy = ({ tenantId, keyId, plan: { queriesPerMinute: rate } }: Principal): number | null =>
    rate > MAX_RATE ? null : rate < 1 ? 0 : waitOf.usedBy(callsOf(tenantId, keyId), rate);
  const count = ({ tenantId, keyId, plan: { name, queriesPerMinute: rate } }: Principal): void => {
    if (rate > MAX_RATE) return;
    if (rate < 1) throw rateLimited(`The plan ${name} allows no queries: its query rate is zero.`, BLOCKED_RETRY_AFTER);
    const wait = waitOf(callsOf(tenantId, keyId), rate);
    if (wait > 0) throw rateLimited(`The key has used up its ${String(rate)} queries a minute; try again in ${String(wait)} s.`, wait);
  };
  return Object.assign(count, { usedBy });
}

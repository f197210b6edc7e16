import { rateLimited } from '../../pipeline/core/errors.ts';
import type { Principal } from '../tenants/principal.ts';
import { callRate, type CallRateOptions } from './call-rate.ts';
import { MAX_RATE } from './token-bucket.ts';

/** Counts one query of a key, or throws a 429 with the time to wait. */
export type QueryRate = (principal: Principal) => void;

/** The wait where a plan allows no query at all. Seconds. */
const BLOCKED_RETRY_AFTER = 60;

/** The rate of each key is that of its plan; above MAX_RATE: none. */
export function queryRate(options: CallRateOptions = {}): QueryRate {
  const waitOf = callRate(options);
  return ({ tenantId, keyId, plan: { name, queriesPerMinute: rate } }) => {
    if (rate > MAX_RATE) return;
    if (rate < 1) throw rateLimited(`The plan ${name} allows no queries: its query rate is zero.`, BLOCKED_RETRY_AFTER);
    const wait = waitOf(`${String(tenantId)}/${keyId}`, rate);
    if (wait > 0) throw rateLimited(`The key has used up its ${String(rate)} queries a minute; try again in ${String(wait)} s.`, wait);
  };
}

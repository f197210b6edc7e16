/** How much of the day's volume is used, where it nears the end at which new logs are refused. */
import type { Answer } from '../../client/client.ts';
import { bytes, percent } from '../base/format.ts';

/** Of the day's volume, from which on it is reported. */
const NEAR = 0.8;

type Usage = Pick<Answer<'GET /api/v1/tenants/{tenant_id}/usage'>, 'limits'>;
export type Quota = { readonly kind: '' | 'error'; readonly text: string };

/** The line of a usage; null where much is left, or the volume has no end. */
export function quotaOf({ limits }: Usage): Quota | null {
  const { limit = null, used = null } = limits.find(({ name }) => name === 'daily_volume') ?? {};
  // without any volume new logs are refused for another reason: that of the plan
  if (limit === null || limit <= 0 || used === null || used < NEAR * limit) return null;
  if (used >= limit)
    return { kind: 'error', text: `The volume of today, ${bytes(limit)}, is used up: new logs are refused until 00:00 UTC.` };
  const part = `${percent(used, limit)} of the volume of today is used, ${bytes(used)} of ${bytes(limit)}.`;
  return { kind: '', text: `${part} Once it is used up, new logs are refused until 00:00 UTC.` };
}

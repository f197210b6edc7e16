import type { Setting } from '../../core/setting.ts';

/** From how many groups on a segment counts single streams no further of who has most of them (`VolumeOptions`), for all tenants. */
export const MAX_GROUPS = 'max_groups';

/** Fewer would close segments all the time; more are more than a partition's state may have. */
const [LEAST, MOST] = [1000, 200_000];

/** What is wrong with the setting of the volume, as a sentence; null for nothing. */
export function checkVolumeSetting({ tenantId, value }: Pick<Setting, 'tenantId' | 'value'>): string | null {
  if (tenantId !== 0) return `${MAX_GROUPS} is set for all tenants, not for one.`;
  const isRight = typeof value === 'number' && Number.isInteger(value) && value >= LEAST && value <= MOST;
  return isRight ? null : `${MAX_GROUPS} is an integer from ${String(LEAST)} to ${String(MOST)}.`;
}

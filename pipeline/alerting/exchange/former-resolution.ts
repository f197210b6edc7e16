import { readJson } from '../../core/read-json.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import type { Resolved } from '../book/command.ts';

/** Whose partials the resolutions are that releases before put on `partials.v1`. */
export const FORMER_RESOLUTIONS = 'resolutions';

/** The command of such a partial, for the source of its detector; null where it is of another, or cannot be read. */
export function formerResolution({ value, tenantId, appendedAt }: PartialInput, isOwn: (detector: string) => boolean): Resolved | null {
  try {
    const { alert, note } = readJson(value.toString()) as Pick<Resolved, 'alert' | 'note'>;
    const isWhole = alert.tenantId === tenantId && Number.isSafeInteger(alert.id) && typeof note === 'string';
    return isWhole && isOwn(alert.detector) ? { kind: 'resolved', alert, note, at: Math.floor(appendedAt / 1000) } : null;
  } catch {
    return null;
  }
}

import type { Alert } from './alert.ts';
import { readJson } from '../../core/read-json.ts';

/** A user resolves an alert, which is as it was shown. Repeated, it changes nothing. */
export type Resolution = { readonly alert: Alert; readonly note: string };

/** Reads a value; null where it is not a resolution of this tenant. */
export function readResolution(value: Buffer, tenantId: number): Resolution | null {
  try {
    const found = readJson(value.toString()) as Resolution;
    return found.alert.tenantId === tenantId && Number.isSafeInteger(found.alert.id) && typeof found.note === 'string' ? found : null;
  } catch {
    return null;
  }
}

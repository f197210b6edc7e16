import type { Alert } from './alert.ts';

/** Somebody says of an alert, which is as it was shown, that it is over. Said again it changes nothing. */
export type Resolution = { readonly alert: Alert; readonly note: string };

/** What a value says; null where it is no resolution of this tenant. */
export function readResolution(value: Buffer, tenantId: number): Resolution | null {
  try {
    const found = JSON.parse(value.toString()) as Resolution;
    return found.alert.tenantId === tenantId && Number.isSafeInteger(found.alert.id) && typeof found.note === 'string' ? found : null;
  } catch {
    return null;
  }
}

import type { Json } from '../../pipeline/core/setting.ts';
import type { ControlStore } from './control-store.ts';
import { settingKey } from './records.ts';

/** That a detector of others is off: since when, and why. */
export type SwitchedOff = { readonly since: string; readonly reason: string };

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));

/** The setting that switches this version of a custom detector off; null where it is on. A changed file is another version. */
export function switchedOff(
  control: ControlStore,
  switches: string,
  { name, version }: { readonly name: string; readonly version: string },
): SwitchedOff | null {
  const value = control.setting(settingKey({ processor: switches, tenantId: 0, key: name }))?.value ?? null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { version: of, since, reason } = value as Readonly<Record<string, Json>>;
  return of === undefined || of === version ? { since: textOf(since), reason: textOf(reason) } : null;
}

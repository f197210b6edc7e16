import type { Json, SettingRules } from '../../core/setting.ts';

/** The merger whose settings switch detectors of one's own off; each detector is a setting of its name. */
export const CUSTOM_DETECTORS = 'custom-detectors';
const MOST_REASON = 1000;

/** That a detector is off, of one version of its file or (null) of all; why; and since when, as ISO 8601. */
export type SwitchedOff = { readonly version: string | null; readonly reason: string; readonly since: string };

export const offValue = ({ version, reason, since }: SwitchedOff): Json => ({
  ...{ state: 'off', reason: reason.slice(0, MOST_REASON), since },
  ...(version === null ? {} : { version }),
});

/** Reads a setting; null where it is invalid. */
export function readOff(value: Json): SwitchedOff | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { state, version = null, reason, since } = value as Readonly<Record<string, Json>>;
  if (state !== 'off' || typeof reason !== 'string' || typeof since !== 'string' || !Number.isFinite(Date.parse(since))) return null;
  return version === null || typeof version === 'string' ? { version, reason, since } : null;
}

/** Whether it is off in this version: a file that was changed is another one. */
export const isOff = (off: SwitchedOff | undefined, version: string): off is SwitchedOff =>
  off !== undefined && (off.version === null || off.version === version);

/** What is wrong with a setting, as a sentence; null for nothing. */
export function switchFault({ tenantId, value }: { readonly tenantId: number; readonly value: Json }): string | null {
  if (tenantId !== 0) return 'A detector is off for all tenants; for one tenant its sensitivity is set (admin detector set).';
  return readOff(value) === null
    ? 'It must be an object with "state": "off", "reason" and "since" (ISO 8601), and maybe "version"; take it back to switch it on.'
    : null;
}

/** Values that are right. */
export const EXAMPLES: readonly Json[] = [
  offValue({ version: null, reason: 'by hand', since: '2026-01-01T00:00:00Z' }),
  offValue({ version: '0123456789ab', reason: 'It did not come to an end.', since: '2026-01-01T00:00:00.000Z' }),
];

/** The settings that switch these detectors off. */
export const detectorSwitches = (detectors: readonly string[]): { readonly name: string } & SettingRules => ({
  name: CUSTOM_DETECTORS,
  settings: Object.fromEntries(detectors.map((name) => [name, EXAMPLES])),
  checkSetting: switchFault,
});

import { HttpError, invalidBody, invalidParameter, notFound } from '../../pipeline/core/errors.ts';
import { MAX_SETTING_BYTES, MAX_SETTINGS, SETTING_KEY, type Json, type Setting, type SettingRules } from '../../pipeline/core/setting.ts';
import { requireTenant } from './accounts.ts';
import type { ControlStore } from './control-store.ts';
import { settingKey, type SettingRecord } from './records.ts';

/** The settings that a processor takes. */
export type SettingCheck = { readonly name: string } & SettingRules;

/** Most settings of one processor for one tenant, and for all together (tenant 0). */
const MAX_OF_TENANT = 100;

/**
 * Sets a setting of a processor, or removes it with null. `guard` is given the current value, null for none, and may throw. HttpError: 400
 * for an invalid processor, key or value; 404 for a tenant or setting that does not exist; 409 for too many settings.
 */
export async function writeSetting(
  control: ControlStore,
  checks: readonly SettingCheck[],
  setting: Pick<Setting, 'processor' | 'tenantId' | 'key' | 'value'>,
  guard: (current: Json) => void = () => undefined,
): Promise<SettingRecord> {
  const fault = faultOf(checks, setting);
  if (fault !== null) throw fault;
  if (setting.tenantId > 0) requireTenant(control, setting.tenantId);
  const key = settingKey(setting);
  return control.write(
    key,
    () => control.setting(key),
    (current) => {
      guard(current?.value ?? null);
      if (setting.value === null && (current === undefined || current.value === null)) throw notFound('This setting is not set.');
      if (current === undefined) requireCapacity(control, setting, checks.find(({ name }) => name === setting.processor)?.mostSettings);
      return setting;
    },
  );
}

/** What is wrong with a setting. */
function faultOf(
  checks: readonly SettingCheck[],
  { processor, tenantId, key, value }: Parameters<typeof writeSetting>[2],
): HttpError | null {
  const configurable = checks.filter(({ settings }) => settings !== undefined);
  const found = configurable.find(({ name }) => name === processor);
  if (found === undefined)
    return invalidParameter(
      `No processor ${JSON.stringify(processor)} has settings; those that do: ${configurable.map(({ name }) => name).join(', ') || 'none'}.`,
    );
  const keys = Object.keys(found.settings ?? {});
  if (!SETTING_KEY.test(key) || !keys.includes(key))
    return invalidParameter(`The processor ${processor} has no setting ${JSON.stringify(key)}; it has ${keys.join(', ')}.`);
  if (value === null) return null;
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_SETTING_BYTES)
    return invalidBody(`The value of a setting has at most ${String(MAX_SETTING_BYTES)} bytes.`);
  const fault = found.checkSetting?.({ tenantId, key, value }) ?? null;
  return fault === null ? null : invalidBody(fault);
}

/** Also what was taken back counts: partitions remember its version. */
function requireCapacity(
  { settings }: ControlStore,
  { processor, tenantId }: Pick<Setting, 'processor' | 'tenantId'>,
  mostOfAll = MAX_SETTINGS,
): void {
  const all = settings.filter((one) => one.processor === processor);
  const own = all.filter((one) => one.tenantId === tenantId);
  const most = own.length >= MAX_OF_TENANT ? MAX_OF_TENANT : all.length >= mostOfAll ? mostOfAll : null;
  if (most !== null)
    throw new HttpError(409, 'conflict', `There are ${String(most)} settings of this processor already, which is the most.`);
}

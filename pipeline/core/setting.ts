import { readJson } from './read-json.ts';
/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What operators set for a processor, for one tenant or for all. */
export type Setting = {
  /** The name of the processor. */
  readonly processor: string;
  /** 0: for all tenants. */
  readonly tenantId: number;
  readonly key: string;
  /** Null: it is taken back, and the processor uses its default. */
  readonly value: Json;
  /** Of the settings of the same processor, tenant and key; the highest counts. */
  readonly version: number;
};

/** A name of letters, digits and "_". */
export const SETTING_KEY = /^[a-z][a-z0-9_]{0,62}$/;
/** Most bytes of a value as JSON. */
export const MAX_SETTING_BYTES = 4096;

/** Most settings of one processor, of all tenants. */
export const MAX_SETTINGS = 1000;

/** What may be set for a processor: both, or neither. */
export interface SettingRules {
  /** The keys of its settings, each with some values that are right, for all tenants or for one. */
  readonly settings?: Readonly<Record<string, readonly Json[]>>;
  /** Most settings of it, of all tenants; 1,000 without it. */
  readonly mostSettings?: number;
  /**
   * What is wrong with a setting of one of its keys, as a sentence; null for nothing. Not called for a value that is taken back (null).
   * `detectors`: the names of custom detectors, which a value may have.
   */
  checkSetting?(setting: Pick<Setting, 'tenantId' | 'key' | 'value'>, detectors?: readonly string[]): string | null;
}

/** The header of a tick that has one (docs/topics.md). */
export const SETTING = 'setting';

/** A setting as JSON, as it stands there. */
export const settingText = ({ processor, tenantId, key, value, version }: Setting): string =>
  JSON.stringify({ processor, tenant: tenantId, key, value, version });

/** Reads that JSON; null where it is not a setting. */
export function parseSetting(text: string): Setting | null {
  let found: unknown;
  try {
    found = readJson(text);
  } catch {
    return null;
  }
  if (typeof found !== 'object' || found === null) return null;
  const { processor, tenant, key, value, version } = found as Readonly<Record<string, unknown>>;
  if (typeof processor !== 'string' || typeof key !== 'string' || !SETTING_KEY.test(key) || value === undefined) return null;
  if (!isCount(tenant, 0) || !isCount(version, 1) || Buffer.byteLength(JSON.stringify(value)) > MAX_SETTING_BYTES) return null;
  return { processor, tenantId: tenant, key, value: value as Json, version };
}

const isCount = (value: unknown, least: number): value is number => Number.isSafeInteger(value) && (value as number) >= least;

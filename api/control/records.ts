import Joi from 'joi';
import { MAX_SETTING_BYTES, SETTING_KEY, type Setting } from '../../pipeline/core/setting.ts';
import { ALERT_SEVERITIES } from '../../pipeline/alerting/book/alert.ts';
import { WEBHOOK_FORMS, type Webhook } from '../../pipeline/alerting/announcements/webhook.ts';
import type { Scope } from '../tenants/principal.ts';
import { readJson } from '../../pipeline/core/read-json.ts';

/** What every record carries: which version of its subject it is, and the write it came from (unique). */
type Versioned = { readonly version: number; readonly write: string };

/** The record `tenant:ID`. Times are ISO 8601. */
export type TenantRecord = Versioned & {
  readonly id: number;
  readonly name: string;
  readonly plan: string;
  readonly signupAt: string;
  readonly disabled: boolean;
  readonly payment: boolean;
  readonly flags: Readonly<Record<string, boolean | number>>;
};

/** The record `key:ID`. The secret is nowhere; `hash` is its HMAC-SHA-256 under the pepper, in hexadecimal. */
export type KeyRecord = Versioned & {
  readonly id: string;
  readonly tenantId: number;
  readonly hash: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** A revoked key is kept, so that a slower write of another node cannot bring it back. */
  readonly revokedAt: string | null;
};

/** The record `setting:PROCESSOR:TENANT:KEY`. One that was taken back is kept, with the value null. */
export type SettingRecord = Versioned & Setting;

/** The record `webhook:TENANT:SLOT`. A slot is used again; one that is free is kept, as deleted. */
export type WebhookRecord = Versioned &
  Webhook & {
    /** 1 to `MAX_WEBHOOKS`. */
    readonly slot: number;
    readonly createdAt: string;
    readonly isDeleted: boolean;
  };

/** Webhooks of a tenant at most. */
export const MAX_WEBHOOKS = 10;

export type ControlValue =
  | { readonly kind: 'tenant'; readonly record: TenantRecord }
  | { readonly kind: 'key'; readonly record: KeyRecord }
  | { readonly kind: 'setting'; readonly record: SettingRecord }
  | { readonly kind: 'webhook'; readonly record: WebhookRecord };

const versioned = { version: Joi.number().integer().min(1).required(), write: Joi.string().required() };
const time = Joi.string().isoDate();

// fields that a newer release adds are let through, so that nodes can be upgraded one by one
const tenantSchema = Joi.object({
  ...versioned,
  id: Joi.number().integer().min(1).required(),
  name: Joi.string().allow('').required(),
  plan: Joi.string().required(),
  signupAt: time.required(),
  disabled: Joi.boolean().required(),
  payment: Joi.boolean().required(),
  flags: Joi.object().pattern(Joi.string(), Joi.alternatives(Joi.boolean(), Joi.number())).required(),
}).unknown(true);

const keySchema = Joi.object({
  ...versioned,
  id: Joi.string().required(),
  tenantId: Joi.number().integer().min(1).required(),
  hash: Joi.string().hex().length(64).required(),
  scopes: Joi.array()
    .items(Joi.string().valid('read', 'write', 'ingest'))
    .required(),
  createdAt: time.required(),
  expiresAt: time.allow(null).required(),
  revokedAt: time.allow(null).required(),
}).unknown(true);

const settingSchema = Joi.object({
  ...versioned,
  processor: Joi.string().required(),
  tenantId: Joi.number().integer().min(0).required(),
  key: Joi.string().pattern(SETTING_KEY).required(),
  value: Joi.any()
    .required()
    .custom((value: unknown, helpers) =>
      Buffer.byteLength(JSON.stringify(value)) > MAX_SETTING_BYTES ? helpers.error('any.invalid') : value,
    ),
}).unknown(true);

const webhookSchema = Joi.object({
  ...versioned,
  id: Joi.string().required(),
  tenantId: Joi.number().integer().min(1).required(),
  slot: Joi.number().integer().min(1).max(MAX_WEBHOOKS).required(),
  url: Joi.string().required(),
  form: Joi.string()
    .valid(...WEBHOOK_FORMS)
    .required(),
  minSeverity: Joi.string()
    .valid(...ALERT_SEVERITIES)
    .required(),
  detectors: Joi.array().items(Joi.string()).required(),
  services: Joi.array().items(Joi.string().allow('')).required(),
  isEnabled: Joi.boolean().required(),
  createdAt: time.required(),
  isDeleted: Joi.boolean().required(),
}).unknown(true);

const SCHEMAS = { tenant: tenantSchema, key: keySchema, setting: settingSchema, webhook: webhookSchema } as const;

export const tenantKey = (id: number): string => `tenant:${String(id)}`;
export const keyKey = (id: string): string => `key:${id}`;
export const settingKey = ({ processor, tenantId, key }: Pick<Setting, 'processor' | 'tenantId' | 'key'>): string =>
  `setting:${processor}:${String(tenantId)}:${key}`;

export const webhookKey = ({ tenantId, slot }: Pick<WebhookRecord, 'tenantId' | 'slot'>): string =>
  `webhook:${String(tenantId)}:${String(slot)}`;

/** The key of the record that this one is. */
function keyOf({ kind, record }: ControlValue): string {
  switch (kind) {
    case 'tenant':
      return tenantKey(record.id);
    case 'key':
      return keyKey(record.id);
    case 'setting':
      return settingKey(record);
    case 'webhook':
      return webhookKey(record);
  }
}

/** What a record of the topic is, by its key; null for what was not written by Logweir. */
export const kindOf = (key: string): ControlValue['kind'] | null =>
  (/^(tenant|key|setting|webhook):/.exec(key)?.[1] ?? null) as ControlValue['kind'] | null;

/** Reads a record of the topic; null for what was not written by Logweir or is not valid. */
export function parseControl(key: string, value: string | null): ControlValue | null {
  if (value === null) return null;
  const kind = kindOf(key);
  if (kind === null) return null;
  let json: unknown;
  try {
    json = readJson(value);
  } catch {
    return null;
  }
  if (SCHEMAS[kind].validate(json, { convert: false }).error !== undefined) return null;
  const parsed = { kind, record: json } as ControlValue;
  return keyOf(parsed) === key ? parsed : null;
}

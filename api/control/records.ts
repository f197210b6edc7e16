import type { Setting } from '../../pipeline/core/setting.ts';
import type { Webhook } from '../../pipeline/alerting/announcements/webhook.ts';
import type { Scope } from '../tenants/principal.ts';

/** What every record carries: which version of its subject it is, and the write it came from (unique). */
export type Versioned = { readonly version: number; readonly write: string };

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
  /** What it is called; absent in records of earlier releases. */
  readonly name?: string;
  /** The project that it is narrowed to; absent: all of the tenant. */
  readonly projectId?: string;
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

/** A record of a tenant in one of its slots, which are used again; one that is free is kept, as deleted. */
export type SlotRecord = Versioned & {
  readonly id: string;
  readonly tenantId: number;
  /** From 1 on. */
  readonly slot: number;
  readonly createdAt: string;
  readonly isDeleted: boolean;
};

/** The record `search:TENANT:SLOT`: a search that a key has saved. */
export type SavedSearchRecord = SlotRecord & {
  /** The id of the key that saved it. */
  readonly owner: string;
  readonly name: string;
  readonly query: string;
  /** As `/search` takes them; null for its defaults. */
  readonly start: string | null;
  readonly end: string | null;
  readonly columns: readonly string[];
  /** Every key of the tenant sees it. */
  readonly isShared: boolean;
  /** The project of its owner; null: none. */
  readonly projectId: string | null;
  readonly updatedAt: string;
};

/** The record `project:TENANT:SLOT`: a part of a tenant. */
export type ProjectRecord = SlotRecord & {
  readonly name: string;
  /** LogsQL: what its keys read. */
  readonly filter: string;
  /** What its keys' writes add. */
  readonly labels: Readonly<Record<string, string>>;
  readonly updatedAt: string;
};

/** The record `playbook:TENANT:SLOT`: what a team does about alerts of a kind. */
export type PlaybookRecord = SlotRecord & {
  readonly name: string;
  /** Markdown. */
  readonly text: string;
  /** The alerts it is for: those that have one of each list that is not empty, and this in their words. */
  readonly services: readonly string[];
  readonly detectors: readonly string[];
  /** Names or ids. */
  readonly rules: readonly string[];
  /** Empty: any. */
  readonly pattern: string;
  /** A model has drafted for which alerts it is. */
  readonly isDrafted: boolean;
  /** The id of the key that imported it. */
  readonly owner: string;
};

/** The record `code:TENANT:SLOT`: a sign-in code. The code is nowhere; `hash` is that of keys. One that was used is kept, as deleted. */
export type SignInCodeRecord = SlotRecord & { readonly keyId: string; readonly hash: string; readonly expiresAt: string };

/** The record `ended:KEY`: sessions of a key that have signed out before their time. */
export type EndedSessionsRecord = Versioned & {
  readonly keyId: string;
  readonly sessions: readonly { readonly id: string; readonly until: string }[];
  /** All sessions that began before it have ended; null: none. */
  readonly before: string | null;
};

/** The record `deletion:TENANT`: a tenant is deleted, and what was found of it and deleted. Times are ISO 8601. */
export type DeletionRecord = Versioned & {
  readonly tenantId: number;
  readonly requestedAt: string;
  /** Records of the control topic that were emptied, by their kind. */
  readonly records: Readonly<Record<string, number>>;
  /** Rows that were deleted, by their table. */
  readonly rows: Readonly<Record<string, number>>;
  /** When nothing was found any more, since the last time that something was; null: not yet. */
  readonly checkedAt: string | null;
  /** The node that deletes rows now, and until when the others leave that to it; null: none. */
  readonly heldBy: { readonly node: string; readonly until: string } | null;
};

/**
 * The record `shards:SET`: in which shard of a set each partition of the log's topics is stored, counted from 0, and the ids of the servers that these shards
 * are. Neither changes for a partition. A set that has always had one server has no partitions here; a restore replaces its server.
 */
export type ShardsRecord = Versioned & {
  readonly set: string;
  readonly partitions: readonly number[];
  readonly servers: readonly string[];
};

/** Any record of the control topic. */
export type ControlRecord =
  | TenantRecord
  | KeyRecord
  | SettingRecord
  | WebhookRecord
  | SavedSearchRecord
  | ProjectRecord
  | PlaybookRecord
  | SignInCodeRecord
  | EndedSessionsRecord
  | DeletionRecord
  | ShardsRecord;

export const tenantKey = (id: number): string => `tenant:${String(id)}`;
export const keyKey = (id: string): string => `key:${id}`;
export const settingKey = ({ processor, tenantId, key }: Pick<Setting, 'processor' | 'tenantId' | 'key'>): string =>
  `setting:${processor}:${String(tenantId)}:${key}`;

export const webhookKey = ({ tenantId, slot }: Pick<WebhookRecord, 'tenantId' | 'slot'>): string =>
  `webhook:${String(tenantId)}:${String(slot)}`;

export const slotKey = (kind: string, { tenantId, slot }: Pick<SlotRecord, 'tenantId' | 'slot'>): string =>
  `${kind}:${String(tenantId)}:${String(slot)}`;

export const deletionKey = (tenantId: number): string => `deletion:${String(tenantId)}`;

export const shardsKey = (set: string): string => `shards:${set}`;

export const endedKey = (keyId: string): string => `ended:${keyId}`;

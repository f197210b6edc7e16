import type { KnownKey } from '../auth/authenticate.ts';
import type { ControlRecord, EndedSessionsRecord, KeyRecord, SettingRecord, SlotRecord, TenantRecord } from './records.ts';

/** The state of the control topic, folded. Equal records in equal order give equal states, on every node. */
export type ControlState = {
  /** What counts of each subject, by the key of its record. */
  readonly records: Map<string, ControlRecord>;
  readonly tenants: Map<number, TenantRecord>;
  readonly keys: Map<string, KeyRecord>;
  /** The settings of processors, by the key of their records. */
  readonly settings: Map<string, SettingRecord>;
  /** What lies in slots: by the kind and the tenant, then by the slot. */
  readonly slots: Map<string, Map<number, SlotRecord>>;
  /** Sessions that have ended early, by the id of their key. */
  readonly ended: Map<string, EndedSessionsRecord>;
  /** Ids of a tenant's keys. */
  readonly keysOfTenant: Map<number, Set<string>>;
  /** Ids of the keys with a hash: one, unless two were given the same secret. */
  readonly idsOfHash: Map<string, readonly string[]>;
  /** What the keys that can be used stand for, by the hash of their secret. */
  readonly known: Map<string, KnownKey>;
  /** Record keys whose last record on the topic lost against an earlier one. */
  readonly stale: Set<string>;
  /** Records that could not be read. */
  unreadable: number;
};

/** Where the slots of a tenant are found. */
export const placeOf = (kind: string, tenantId: number): string => `${kind}:${String(tenantId)}`;

/** Puts a record into its slot. */
export function indexSlot(state: ControlState, kind: string, record: SlotRecord): void {
  const place = placeOf(kind, record.tenantId);
  const slots = state.slots.get(place) ?? new Map<number, SlotRecord>();
  state.slots.set(place, slots.set(record.slot, record));
}

import type { CompactedRecord } from '../../pipeline/core/compacted-log.ts';
import { readJson } from '../../pipeline/core/read-json.ts';
import { kindOf } from './kinds/index.ts';
import type { RecordKind } from './kinds/kind.ts';
import type { ControlRecord } from './records.ts';
import type { ControlState } from './state.ts';

/** A record that was read, and its kind. */
export type ControlValue = { readonly kind: RecordKind; readonly record: ControlRecord };

export function emptyControlState(): ControlState {
  return {
    records: new Map(),
    tenants: new Map(),
    keys: new Map(),
    settings: new Map(),
    slots: new Map(),
    ended: new Map(),
    keysOfTenant: new Map(),
    idsOfHash: new Map(),
    known: new Map(),
    stale: new Set(),
    unreadable: 0,
  };
}

/** Reads a record of the topic; null for what was not written by Logweir or is not valid. */
export function parseControl(key: string, value: string | null): ControlValue | null {
  const kind = value === null ? undefined : kindOf(key);
  if (value === null || kind === undefined) return null;
  let json: unknown;
  try {
    json = readJson(value);
  } catch {
    return null;
  }
  if (kind.schema.validate(json, { convert: false }).error !== undefined) return null;
  const record = json as ControlRecord;
  return kind.keyOf(record) === key ? { kind, record } : null;
}

/**
 * Takes one record into the state and gives it back when it counts. Of several records with the same version of the same subject
 * the first counts: that settles races between nodes. A later one of that version, or of an older one, makes the subject `stale`,
 * since compaction would keep just that wrong record: a node that sees it appends the right one again.
 */
export function fold(state: ControlState, { key, value }: Pick<CompactedRecord, 'key' | 'value'>): ControlValue | null {
  const parsed = parseControl(key, value);
  if (parsed === null) {
    if (value !== null && kindOf(key) !== undefined) state.unreadable += 1;
    return null;
  }
  const current = state.records.get(key);
  if (current !== undefined && current.write === parsed.record.write) {
    state.stale.delete(key);
    return parsed;
  }
  if (current !== undefined && parsed.record.version <= current.version) {
    state.stale.add(key);
    return null;
  }
  state.stale.delete(key);
  state.records.set(key, parsed.record);
  parsed.kind.index(state, parsed.record, current);
  return parsed;
}

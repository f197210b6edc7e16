import { notFound, type HttpError } from '../../pipeline/core/errors.ts';
import type { ControlStore } from './control-store.ts';
import { slotKey, type ControlRecord, type SlotRecord } from './records.ts';

type Fields<Value extends SlotRecord> = Omit<Value, 'version' | 'write' | 'tenantId' | 'slot' | 'createdAt' | 'isDeleted'>;

/** What a tenant has of a kind that lies in slots, oldest first. */
export function liveIn<Value extends SlotRecord>(control: Pick<ControlStore, 'slots'>, kind: string, tenantId: number): Value[] {
  const own = [...control.slots(kind, tenantId).values()].filter(({ isDeleted }) => !isDeleted) as Value[];
  return own.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.slot - b.slot));
}

/**
 * Puts a record into the first slot that is free: of two nodes that take the same one, one takes the next. `refusal` is asked each time
 * whether there may be one more. `isFree`: whether a slot may be taken that has not been deleted.
 */
export async function createIn<Value extends SlotRecord & ControlRecord>(
  control: ControlStore,
  kind: string,
  tenantId: number,
  fields: Fields<Value>,
  refusal: () => HttpError | null,
  isFree: (record: Value) => boolean = ({ isDeleted }) => isDeleted,
): Promise<Value> {
  const isTaken = (record: SlotRecord | undefined): boolean => record !== undefined && !isFree(record as Value);
  for (;;) {
    const refused = refusal();
    if (refused !== null) throw refused;
    const slots = control.slots(kind, tenantId);
    let slot = 1;
    while (isTaken(slots.get(slot))) slot += 1;
    const made = { ...fields, tenantId, slot, createdAt: new Date().toISOString(), isDeleted: false } as unknown as Value;
    const key = slotKey(kind, made);
    // another one may have taken the slot meanwhile
    const written = await control.write<Value>(
      key,
      () => control.record(key) as Value | undefined,
      (current) => (current !== undefined && isTaken(current) ? current : made),
    );
    if (written.id === made.id) return written;
  }
}

/** Changes a record in its slot. Throws HttpError 404, with this sentence, where it is not there any more. */
export function changeIn<Value extends SlotRecord & ControlRecord>(
  control: ControlStore,
  kind: string,
  at: Pick<Value, 'id' | 'tenantId' | 'slot'>,
  change: (current: Value) => Partial<Value>,
  missing: string,
): Promise<Value> {
  const key = slotKey(kind, at);
  return control.write<Value>(
    key,
    () => control.record(key) as Value | undefined,
    (current) => {
      if (current?.id !== at.id || current.isDeleted) throw notFound(missing);
      return { ...current, ...change(current) };
    },
  );
}

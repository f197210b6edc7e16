import Joi from 'joi';
import type { ControlRecord } from '../records.ts';
import type { ControlState } from '../state.ts';

/** A kind of record of the control topic: all that the control plane knows of it. */
export type RecordKind<Value extends ControlRecord = ControlRecord> = {
  /** What stands before the first colon of its records' keys. */
  readonly name: string;
  /** A sentence for docs/control.md. */
  readonly about: string;
  /** The whole key, as docs/control.md shows it. */
  readonly key: string;
  /** How many there are at most, and where that is bounded. */
  readonly bounds: string;
  /** What is left of one that was deleted. */
  readonly deletion: string;
  /** Endpoints that read or write it: a method and a path. */
  readonly routes: readonly string[];
  /** Commands of `logweir` that do. */
  readonly commands: readonly string[];
  readonly schema: Joi.ObjectSchema;
  /** Whose it is; null where it belongs to all tenants, or where that is not known. */
  tenantOf(record: Value, state: Pick<ControlState, 'keys'>): number | null;
  /** What is left of it when its tenant is deleted: nothing that the tenant wrote. */
  emptied(record: Value): Value;
  keyOf(record: Value): string;
  /** Puts a record that counts where it is looked up; `before` is what it replaces. */
  index(state: ControlState, record: Value, before: Value | undefined): void;
};

/** What the schema of each kind has. Members that a newer release adds are let through, so that nodes can be upgraded one by one. */
export const recordOf = (members: Joi.PartialSchemaMap): Joi.ObjectSchema =>
  Joi.object({ version: Joi.number().integer().min(1).required(), write: Joi.string().required(), ...members }).unknown(true);

export const time = Joi.string().isoDate();
export const tenantNumber = Joi.number().integer().min(1).required();

/** The members of a record that lies in a slot. */
export const slotMembers = (slots: number): Joi.PartialSchemaMap => ({
  id: Joi.string().required(),
  tenantId: tenantNumber,
  slot: Joi.number().integer().min(1).max(slots).required(),
  createdAt: time.required(),
  isDeleted: Joi.boolean().required(),
});

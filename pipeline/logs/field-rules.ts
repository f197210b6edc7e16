/** What a request says about the fields of its entries, as VictoriaLogs' ingest has it (`_msg_field`, `_time_field`, `ignore_fields`, `extra_fields`). */
export type FieldRules = {
  /** The first of these that an entry has is its message. */
  readonly messages: readonly string[];
  /** The first of these that is readable is its time, where the protocol gives none. */
  readonly times: readonly string[];
  /** Fields that are left out; with `*` at the end, all that begin so. */
  readonly ignored: readonly string[];
  /** Fields that each entry gets, in place of its own. */
  readonly extra: readonly (readonly [name: string, value: string])[];
};

/** Applies what a request says to one field's name. */
export function isIgnored(name: string, ignored: readonly string[]): boolean {
  return ignored.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
}

import { ABSENT, STRING, type Draft } from './draft.ts';
import type { Name } from './names.ts';

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

/** Leaves out and puts in what a request wants left out and put in, entry by entry. */
export class AppliedRules {
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];
  readonly #extra: readonly (readonly [name: string, token: string])[];
  /** What was found out about a name, whose entries are many. */
  readonly #known = new Map<Name, boolean>();

  constructor({ ignored, extra }: FieldRules) {
    this.#names = new Set(ignored.filter((one) => !one.endsWith('*')));
    this.#prefixes = ignored.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1));
    this.#extra = extra.map(([name, value]) => [name, value === '' ? '' : JSON.stringify(value.toWellFormed())]);
  }

  apply(draft: Draft): void {
    if (this.#names.size + this.#prefixes.length > 0)
      for (let i = 0; i < draft.count; i++) if (this.#isIgnored(draft.fieldNames[i] as Name)) draft.kinds[i] = ABSENT;
    for (const [name, token] of this.#extra)
      if (token === '') draft.putString(draft.names.of(name), '');
      else draft.set(draft.names.of(name), STRING, token);
  }

  #isIgnored(name: Name): boolean {
    let ignored = this.#known.get(name);
    if (ignored === undefined) {
      ignored = this.#names.has(name.text) || this.#prefixes.some((prefix) => name.text.startsWith(prefix));
      this.#known.set(name, ignored);
    }
    return ignored;
  }
}

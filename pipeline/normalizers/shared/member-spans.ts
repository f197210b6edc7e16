import { skipValue } from '../../wire/json-tokens.ts';
import { CLOSE_OBJECT } from '../../wire/bytes.ts';
import { nextMember, openObject } from '../../wire/json-walk.ts';
import { MemberNames, UNKNOWN } from './json-members.ts';

/**
 * Finds where the members of a JSON object lie that a format knows, without making strings of their names. Of equal names the last
 * counts; what is not known is passed over. One for a format, used for one object at a time.
 */
export class MemberSpans {
  /** Where the value of the member of each name begins, by the name's place in the list; -1 where there is none. */
  readonly at: Int32Array;
  /** Where it ends. */
  readonly after: Int32Array;
  readonly #names: MemberNames;

  constructor(names: readonly string[]) {
    this.at = new Int32Array(names.length);
    this.after = new Int32Array(names.length);
    this.#names = new MemberNames(Object.fromEntries(names.map((name, index) => [name, index + 1])));
  }

  /** Reads the object at `at`; gives the offset after it, -1 where there is no whole one before `end`. */
  read(body: Buffer, at: number, end: number): number {
    this.at.fill(-1);
    let i = openObject(body, at, end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = this.#names.find(body, i, end);
      const { field } = this.#names;
      const after = i < 0 ? -1 : skipValue(body, i, end);
      if (after >= 0 && field !== UNKNOWN) {
        this.at[field - 1] = i;
        this.after[field - 1] = after;
      }
      i = nextMember(body, after, end);
    }
    return i < 0 ? -1 : i + 1;
  }
}

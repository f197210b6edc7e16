import { QUOTE } from '../../wire/bytes.ts';
import { failAt, last, PLAIN, skipString } from '../../wire/json-tokens.ts';
import { stringAt, valueAfter } from '../../wire/json-walk.ts';
import { ByteMap } from '../../core/byte-map.ts';

/** A name as it is spelled in the body, with its quotes; its number; and the name that followed it last time: a guess. */
type Member = { readonly token: Uint8Array; readonly field: number; next: Member };

/** The number of a name that is not known. */
export const UNKNOWN = 0;

/**
 * The member names that a JSON message may have, each with a number, so that a decoder can switch on it as on protobuf's field
 * numbers and no name becomes a string. An object is read so:
 *
 *     let i = openObject(body, at, end);
 *     while (i >= 0 && body[i] !== CLOSE_OBJECT) {
 *       i = NAMES.find(body, i, end);
 *       if (i < 0) return -1;
 *       i = NAMES.field === 1 ? … : skipValue(body, i, end);
 *       i = nextMember(body, i, end);
 *     }
 *     return i < 0 ? -1 : i + 1;
 */
export class MemberNames {
  /** The number of the name that was found last; read it before another object is entered. */
  field = UNKNOWN;
  readonly #map = new ByteMap<Member>(64);
  readonly #unknown: Member;
  #last: Member;

  /** Numbers above 0 by name. */
  constructor(fields: Readonly<Record<string, number>>) {
    const unknown = { token: Buffer.alloc(0), field: UNKNOWN } as Omit<Member, 'next'> as Member;
    unknown.next = unknown;
    this.#unknown = unknown;
    this.#last = unknown;
    for (const [name, field] of Object.entries(fields)) this.#map.add({ token: Buffer.from(JSON.stringify(name)), field, next: unknown });
  }

  /** Reads the name at `at` and its colon: sets `field`, and gives the offset of the value; -1 where it is not JSON. */
  find(bytes: Buffer, at: number, end: number): number {
    let member = this.#last.next;
    let after = matches(member.token, bytes, at);
    if (after < 0) {
      if (bytes[at] !== QUOTE) return failAt(at, end);
      after = skipString(bytes, at, end);
      if (after < 0) return -1;
      member = this.#lookUp(bytes, at, after);
      this.#last.next = member;
    }
    this.#last = member;
    this.field = member.field;
    return valueAfter(bytes, after, end);
  }

  #lookUp(bytes: Buffer, at: number, after: number): Member {
    if (last.escapes === PLAIN) return this.#map.find(bytes, at, after) ?? this.#unknown;
    const plain = Buffer.from(JSON.stringify(stringAt(bytes, at, after)));
    return this.#map.find(plain, 0, plain.length) ?? this.#unknown;
  }
}

/** The offset after the token where it stands at `at`, else -1. */
function matches(token: Uint8Array, bytes: Buffer, at: number): number {
  if (token.length === 0) return -1;
  for (let i = 0; i < token.length; i++) if (bytes[at + i] !== token[i]) return -1;
  return at + token.length;
}

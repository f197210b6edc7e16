import { CLOSE_ARRAY, CLOSE_OBJECT } from '../../wire/bytes.ts';
import { last, PLAIN, skipSpace, skipString } from '../../wire/json-tokens.ts';
import { stringAt } from '../../wire/json-walk.ts';
import { ByteMap } from '../../logs/byte-map.ts';

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
      if (bytes[at] !== 0x22) return failAt(at);
      after = skipString(bytes, at, end);
      if (after < 0) return -1;
      member = this.#lookUp(bytes, at, after);
      this.#last.next = member;
    }
    this.#last = member;
    this.field = member.field;
    const colon = bytes[after] === 0x3a ? after : skipSpace(bytes, after, end);
    if (colon >= end || bytes[colon] !== 0x3a) return failAt(Math.min(colon, end));
    return skipSpace(bytes, colon + 1, end);
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

/** The offset of the first name of the object at `at`, or of its closing brace; -1 where there is neither. */
export function openObject(bytes: Buffer, at: number, end: number): number {
  return open(bytes, at, end, 0x7b);
}

/** The offset of the first element of the array at `at`, or of its closing bracket; -1 where there is neither. */
export function openArray(bytes: Buffer, at: number, end: number): number {
  return open(bytes, at, end, 0x5b);
}

function open(bytes: Buffer, at: number, end: number, bracket: number): number {
  if (at >= end || bytes[at] !== bracket) return failAt(Math.min(at, end));
  const first = skipSpace(bytes, at + 1, end);
  return first < end ? first : failAt(end);
}

/** Behind a member's value, which ends at `at`: the offset of the next name, or of the closing brace. A negative `at` is passed on. */
export function nextMember(bytes: Buffer, at: number, end: number): number {
  return next(bytes, at, end, CLOSE_OBJECT);
}

/** The same for an element of an array. */
export function nextElement(bytes: Buffer, at: number, end: number): number {
  return next(bytes, at, end, CLOSE_ARRAY);
}

function next(bytes: Buffer, at: number, end: number, closer: number): number {
  if (at < 0) return at;
  const i = skipSpace(bytes, at, end);
  if (i < end && bytes[i] === closer) return i;
  if (i >= end || bytes[i] !== 0x2c) return failAt(Math.min(i, end));
  const following = skipSpace(bytes, i + 1, end);
  // a closer here would follow a comma
  return following < end && bytes[following] !== closer ? following : failAt(following);
}

function failAt(at: number): -1 {
  last.failedAt = at;
  return -1;
}

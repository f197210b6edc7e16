import {
  compact,
  last,
  PLAIN,
  shape,
  skipNumber,
  skipSpace,
  skipString,
  skipValue,
  skipWord,
  UNICODE_ESCAPED,
} from '../core/json-tokens.ts';
import { Name, Names, type Spelling, type Spellings } from './names.ts';

/** Most fields of one entry, and deepest nesting of objects and arrays. */
export const MAX_FIELDS = 1000;
export const MAX_DEPTH = 64;

/** What a field's token is. ABSENT: null, empty text, or overwritten by such. */
export const ABSENT = 0;
export const STRING = 1;
export const LITERAL = 2;

/**
 * The fields of the entry being read, as JSON tokens that stay where they are in the request's body. Tokens that must be
 * rewritten lie in `arena`. Nested objects are flattened with dots, arrays become their JSON text, the last of equal names wins.
 * One for a process, used for one entry at a time.
 */
export class Draft {
  readonly names: Names;
  /** Field i: its name, where its token lies, and what it is. */
  readonly fieldNames: Name[] = [];
  readonly kinds = new Uint8Array(MAX_FIELDS + 1);
  readonly starts = new Int32Array(MAX_FIELDS + 1);
  readonly ends = new Int32Array(MAX_FIELDS + 1);
  readonly inArena = new Uint8Array(MAX_FIELDS + 1);
  count = 0;
  /** Running number of the entry; `name.seen === entry` tells whether the entry has the field. */
  entry = 0;
  /** The request's body, where the tokens lie. */
  body: Buffer = Buffer.alloc(0);
  arena: Buffer = Buffer.allocUnsafeSlow(65_536);
  arenaLength = 0;
  /** Why the entry cannot be taken although it is JSON; empty when it can. */
  problem = '';
  /** The one field whose objects are kept as JSON text instead of being flattened. */
  readonly #message: Name;

  constructor(names: Names) {
    this.names = names;
    this.#message = names.pin('_msg');
  }

  begin(body: Buffer): void {
    this.names.trim();
    this.body = body;
    this.count = 0;
    this.arenaLength = 0;
    this.entry += 1;
    this.problem = '';
  }

  /** The index of a field that is present, or -1. */
  find(name: Name): number {
    return name.seen === this.entry && this.kinds[name.index] !== ABSENT ? name.index : -1;
  }

  /** The text of a field: strings decoded, literals as sent. */
  text(index: number): string {
    const token = (this.inArena[index] === 1 ? this.arena : this.body).toString('utf8', this.starts[index], this.ends[index]);
    return this.kinds[index] === STRING ? (JSON.parse(token) as string) : token;
  }

  /** Takes a field's place for a token that is written into the arena. */
  replace(index: number, kind: number, token: string): void {
    const length = Buffer.byteLength(token);
    if (this.arenaLength + length > this.arena.length) {
      const larger = Buffer.allocUnsafeSlow((this.arenaLength + length) * 2);
      this.arena.copy(larger, 0, 0, this.arenaLength);
      this.arena = larger;
    }
    this.kinds[index] = kind;
    this.inArena[index] = 1;
    this.starts[index] = this.arenaLength;
    this.arenaLength += this.arena.write(token, this.arenaLength, 'utf8');
    this.ends[index] = this.arenaLength;
  }

  /** Adds or overwrites a field whose token is text of ours. */
  set(name: Name, kind: number, token: string): void {
    this.replace(this.#place(name), kind, token);
  }

  /**
   * Reads the JSON object that begins at `at`. Gives the offset after it; -1 where it is no JSON (`last.failedAt`). When `problem`
   * is set afterwards the object is valid but the entry is not.
   */
  readObject(at: number, end: number): number {
    const after = this.#object(at, end, null, this.names.top, 1);
    if (after >= 0 || this.problem === '') return after;
    // the limit was hit in the middle: is it JSON at all, and where does it end?
    return skipValue(this.body, at, end);
  }

  #object(at: number, end: number, parent: Name | null, spellings: Spellings, depth: number): number {
    if (depth > MAX_DEPTH) return this.#refuse(`nested deeper than ${String(MAX_DEPTH)} levels`);
    const body = this.body;
    let i = skipSpace(body, at + 1, end);
    if (i < end && body[i] === 0x7d) return i + 1;
    let guess = spellings.first;
    let before: Spelling | null = null;
    for (;;) {
      if (i >= end || body[i] !== 0x22) return failAt(i);
      let after = guess === null ? -1 : this.#matches(guess, i);
      let spelling: Spelling;
      if (after >= 0) spelling = guess as Spelling;
      else {
        after = skipString(body, i, end);
        if (after < 0) return -1;
        spelling = spellings.map.find(body, i, after) ?? this.names.learn(parent, body, i, after);
        if (before === null) spellings.first = spelling;
        else before.next = spelling;
      }
      i = after;
      if (body[i] !== 0x3a) {
        i = skipSpace(body, i, end);
        if (i >= end || body[i] !== 0x3a) return failAt(i);
      }
      i += 1;
      const byte = body[i] as number;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) i = skipSpace(body, i, end);
      i = this.#value(i, end, spelling.name, depth);
      if (i < 0) return -1;
      if (body[i] !== 0x2c && body[i] !== 0x7d) i = skipSpace(body, i, end);
      if (i >= end) return failAt(end);
      if (body[i] === 0x7d) return i + 1;
      if (body[i] !== 0x2c) return failAt(i);
      i += 1;
      if (body[i] !== 0x22) i = skipSpace(body, i, end);
      before = spelling;
      guess = spelling.next;
    }
  }

  /** The offset after the name at `at` if it is spelled as guessed, else -1. Reading past the end gives undefined: no match. */
  #matches(guess: Spelling, at: number): number {
    const token = guess.token;
    const body = this.body;
    for (let i = 0; i < token.length; i++) if (body[at + i] !== token[i]) return -1;
    return at + token.length;
  }

  /** Reads the value at `at` into the field `name`. */
  #value(at: number, end: number, name: Name, depth: number): number {
    if (at >= end) return failAt(end);
    const byte = this.body[at] as number;
    if (byte === 0x22) return this.#string(at, end, name);
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const after = skipNumber(this.body, at, end);
      if (after >= 0) this.#put(name, LITERAL, at, after);
      return after;
    }
    if (byte === 0x7b && name !== this.#message) return this.#object(at, end, name, name.children, depth + 1);
    if (byte === 0x5b || byte === 0x7b) return this.#jsonText(at, end, name, depth);
    if (byte !== 0x74 && byte !== 0x66 && byte !== 0x6e) return failAt(at);
    const after = skipWord(this.body, at, end);
    if (after >= 0) this.#put(name, byte === 0x6e ? ABSENT : LITERAL, at, after);
    return after;
  }

  #string(at: number, end: number, name: Name): number {
    const after = skipString(this.body, at, end);
    if (after < 0) return -1;
    if (last.escapes !== UNICODE_ESCAPED) this.#put(name, after === at + 2 ? ABSENT : STRING, at, after);
    else {
      // \u escapes may spell lone surrogates, which are no text: they become U+FFFD
      const text = (JSON.parse(this.body.toString('utf8', at, after)) as string).toWellFormed();
      this.set(name, STRING, JSON.stringify(text));
    }
    return after;
  }

  /** An array (or the message's object): kept as compact JSON text. */
  #jsonText(at: number, end: number, name: Name, depth: number): number {
    const after = skipValue(this.body, at, end);
    if (after < 0) return -1;
    if (depth + shape.depth > MAX_DEPTH) return this.#refuse(`nested deeper than ${String(MAX_DEPTH)} levels`);
    const text = this.body.toString('utf8', at, after);
    this.set(name, STRING, JSON.stringify(shape.spaced ? compact(text) : text));
    return after;
  }

  #put(name: Name, kind: number, start: number, end: number): void {
    const index = this.#place(name);
    this.kinds[index] = kind;
    this.starts[index] = start;
    this.ends[index] = end;
    this.inArena[index] = 0;
  }

  /** The index of a field: its own where the entry has it already, else a new one. */
  #place(name: Name): number {
    if (name.seen === this.entry) return name.index;
    const index = this.count;
    if (index >= MAX_FIELDS) {
      this.#refuse(`more than ${String(MAX_FIELDS)} fields`);
      return MAX_FIELDS;
    }
    if (name.tooLong) this.#refuse(`a field name of more than 256 bytes: ${JSON.stringify(name.text.slice(0, 64))}…`);
    name.seen = this.entry;
    name.index = index;
    this.fieldNames[index] = name;
    this.count = index + 1;
    return index;
  }

  #refuse(problem: string): -1 {
    if (this.problem === '') this.problem = problem;
    return -1;
  }
}

function failAt(at: number): -1 {
  last.failedAt = at;
  last.escapes = PLAIN;
  return -1;
}

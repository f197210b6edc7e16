import { isUtf8 } from 'node:buffer';
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
} from '../wire/json-tokens.ts';
import { JSON_TEXT, objectScanner, TAPE_WIDTH, UNICODE_STRING, type ObjectScanner } from '../wasm/object-scanner.ts';
import { escapeText } from './escape-text.ts';
import { HeldFields } from './held.ts';
import { Name, Names, type Spelling, type Spellings } from './names.ts';
import { ScannedNames } from './scanned-names.ts';

/** Most fields of one entry, and deepest nesting of objects and arrays. */
export const MAX_FIELDS = 1000;
export const MAX_DEPTH = 64;

/** What a field's token is. ABSENT: null, empty text, or overwritten by such. */
export const ABSENT = 0;
export const STRING = 1;
export const LITERAL = 2;

/** Strings up to this size are escaped in place; longer ones by way of a string. */
const MAX_SHORT_TEXT = 4096;

/**
 * The fields of the entry being read, as JSON tokens that stay where they are in the request's body. Tokens that must be
 * rewritten lie in `arena`. Nested objects are flattened with dots, arrays become JSON strings, the last of equal names wins.
 * A format other than JSON puts its fields in one by one; what all entries of a group share is put in once, and held.
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
  /** Running number of the entry; `name.seen === entry` where the entry has the field. */
  entry = 0;
  /** The request's body, where the tokens lie. */
  body: Buffer = Buffer.alloc(0);
  arena: Buffer = Buffer.allocUnsafeSlow(65_536);
  arenaLength = 0;
  /** Why the entry cannot be taken although it is JSON; empty when it can. */
  problem = '';
  /** The one field whose objects are kept as JSON text instead of being flattened. */
  readonly #message: Name;
  /** Where the object being read lies: in the body, or (1) in the arena. */
  #input: Buffer = this.body;
  #inputKind = 0;
  /** Fields below this index keep their value, whatever comes later. */
  #guard = 0;
  /** What every entry of a group begins with. */
  readonly #held = new HeldFields(MAX_FIELDS + 1);
  readonly #scanned: ScannedNames | null;

  /** `scanner`: reads most objects; null where the draft is to read all of them. */
  constructor(names: Names, scanner: ObjectScanner | null = objectScanner) {
    this.names = names;
    this.#message = names.pin('_msg');
    this.#scanned = scanner === null ? null : new ScannedNames(scanner, names, this.#message);
  }

  begin(body: Buffer): void {
    this.names.trim();
    this.body = body;
    this.#input = body;
    this.#inputKind = 0;
    this.#guard = 0;
    this.count = 0;
    this.arenaLength = 0;
    this.entry += 1;
    this.problem = '';
    this.#held.count = 0;
  }

  /** Keeps the fields put in so far as what each entry of a group begins with; `again` begins the entries. */
  hold(): void {
    this.#held.keep(this, this.count, this.arenaLength, this.problem);
  }

  /** Begins the next entry of the group, with the fields that were held. */
  again(): void {
    this.#guard = 0;
    this.count = this.#held.count;
    this.arenaLength = this.#held.arenaLength;
    this.problem = this.#held.problem;
    this.entry += 1;
    this.#held.restore(this, this.entry);
  }

  /** The index of a field that is present, or -1. */
  find(name: Name): number {
    return name.seen === this.entry && this.kinds[name.index] !== ABSENT ? name.index : -1;
  }

  /** A field as a string: strings decoded, literals as sent. */
  text(index: number): string {
    const token = (this.inArena[index] === 1 ? this.arena : this.body).toString('utf8', this.starts[index], this.ends[index]);
    return this.kinds[index] === STRING ? (JSON.parse(token) as string) : token;
  }

  /** The fields as one JSON object, names flattened. */
  json(): string {
    const members: string[] = [];
    for (let i = 0; i < this.count; i++) {
      if (this.kinds[i] === ABSENT) continue;
      const source = this.inArena[i] === 1 ? this.arena : this.body;
      members.push(`${JSON.stringify((this.fieldNames[i] as Name).text)}:${source.toString('utf8', this.starts[i], this.ends[i])}`);
    }
    return `{${members.join(',')}}`;
  }

  /** Takes a field's place for a token that is written into the arena. */
  replace(index: number, kind: number, token: string): void {
    this.#reserve(Buffer.byteLength(token));
    const start = this.arenaLength;
    this.arenaLength += this.arena.write(token, start, 'utf8');
    this.#inArenaFrom(index, kind, start);
  }

  /** Makes space in the arena. Offsets into it stay, and a reader of the old one may go on. */
  #reserve(length: number): void {
    if (this.arenaLength + length <= this.arena.length) return;
    const larger = Buffer.allocUnsafeSlow((this.arenaLength + length) * 2);
    this.arena.copy(larger, 0, 0, this.arenaLength);
    this.arena = larger;
  }

  #inArenaFrom(index: number, kind: number, start: number): void {
    this.kinds[index] = kind;
    this.inArena[index] = 1;
    this.starts[index] = start;
    this.ends[index] = this.arenaLength;
  }

  /** Adds or overwrites a field whose token this process has written. */
  set(name: Name, kind: number, token: string): void {
    this.replace(this.#place(name), kind, token);
  }

  /** Puts in a field by its value; lone surrogates become U+FFFD, and an empty string is a missing field. */
  putString(name: Name, text: string): void {
    if (text === '') this.kinds[this.#place(name)] = ABSENT;
    else this.set(name, STRING, JSON.stringify(text.toWellFormed()));
  }

  /** Puts in a number or boolean by its JSON token. */
  putLiteral(name: Name, token: string): void {
    this.set(name, LITERAL, token);
  }

  /** Puts in a field whose JSON token lies in the body. */
  putToken(name: Name, kind: number, start: number, end: number): void {
    this.#inputKind = 0;
    this.#put(name, kind, start, end);
  }

  /** Puts in a string field whose raw value is `bytes[start..end)`; invalid UTF-8 becomes U+FFFD, and empty is missing. */
  putText(name: Name, bytes: Buffer, start: number, end: number): void {
    if (start === end) this.kinds[this.#place(name)] = ABSENT;
    else if (end - start > MAX_SHORT_TEXT || !this.#escape(name, bytes, start, end))
      this.putString(name, bytes.toString('utf8', start, end));
  }

  /** Writes the string as a JSON token into the arena; false where it is not UTF-8. */
  #escape(name: Name, bytes: Buffer, start: number, end: number): boolean {
    this.#reserve((end - start) * 6 + 2);
    const from = this.arenaLength;
    const to = escapeText(this.arena, from, bytes, start, end);
    if (to < 0) return false;
    this.arenaLength = to;
    this.#inArenaFrom(this.#place(name), STRING, from);
    return true;
  }

  /** Gives a field another name; one that the entry has under that name already is overwritten. */
  rename(index: number, name: Name): void {
    if (name.seen !== this.entry && index >= this.#held.count) {
      (this.fieldNames[index] as Name).seen = 0;
      this.fieldNames[index] = name;
      name.seen = this.entry;
      name.index = index;
      return;
    }
    const kind = this.kinds[index] as number;
    this.kinds[index] = ABSENT;
    const at = this.#place(name);
    this.kinds[at] = kind;
    this.starts[at] = this.starts[index] as number;
    this.ends[at] = this.ends[index] as number;
    this.inArena[at] = this.inArena[index] as number;
  }

  /**
   * Where a line is a JSON object, its members are added to the fields that the entry has, which keep their values. True if so;
   * false leaves the entry unchanged: the line is something else, or has more or deeper fields than an entry may have.
   */
  readLine(bytes: Buffer, start: number, end: number): boolean {
    const from = skipSpace(bytes, start, end);
    if (from >= end || bytes[from] !== 0x7b) return false;
    const after = skipValue(bytes, from, end);
    if (after < 0 || skipSpace(bytes, after, end) < end || !isUtf8(bytes.subarray(from, after))) return false;
    const { count, problem } = this;
    const kinds = this.kinds.slice(0, count);
    this.#reserve(after - from);
    const at = this.arenaLength;
    this.arenaLength += bytes.copy(this.arena, at, from, after);
    this.#input = this.arena;
    this.#inputKind = 1;
    this.#guard = count;
    this.#object(at, this.arenaLength, null, this.names.top, 1);
    this.#input = this.body;
    this.#inputKind = 0;
    this.#guard = 0;
    if (this.problem === problem) return true;
    this.problem = problem;
    for (let i = count; i < this.count; i++) (this.fieldNames[i] as Name).seen = 0;
    this.count = count;
    this.kinds.set(kinds);
    return false;
  }

  /**
   * Reads the JSON object that begins at `at`. Gives the offset after it; -1 where it is not JSON (`last.failedAt`). When `problem`
   * is set afterwards the object is valid but the entry is not.
   */
  readObject(at: number, end: number): number {
    const known = this.#scan(at, end);
    if (known >= 0) return known;
    const after = this.#object(at, end, null, this.names.top, 1);
    if (after >= 0 || this.problem === '') return after;
    // the limit was hit in the middle: is it JSON at all, and where does it end?
    return skipValue(this.body, at, end);
  }

  /** The same by the scanner; -1 where that leaves it to the draft. */
  #scan(at: number, end: number): number {
    const scanned = this.#scanned;
    if (scanned === null || this.problem !== '') return -1;
    const after = scanned.scan(this.body, at, end);
    const { list, scanner } = scanned;
    const { tape, base, count } = scanner;
    if (after < 0 || this.count + count > MAX_FIELDS) return -1;
    for (let field = 0; field < count; field++) {
      const i = TAPE_WIDTH * field;
      const name = list[tape[i] as number] as Name;
      const kind = tape[i + 1] as number;
      const start = base + (tape[i + 2] as number);
      if (kind === JSON_TEXT) this.#jsonText(start, after, name, 1);
      else if (kind === UNICODE_STRING) this.#string(start, after, name);
      else this.#put(name, kind, start, base + (tape[i + 3] as number));
    }
    return after;
  }

  /** Steps from member to member by itself, unlike all that pipeline/wire/json-walk.ts serves: names are guessed and learnt on the way. */
  #object(at: number, end: number, parent: Name | null, spellings: Spellings, depth: number): number {
    if (depth > MAX_DEPTH) return this.#refuse(`nested deeper than ${String(MAX_DEPTH)} levels`);
    const body = this.#input;
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
      this.#scanned?.teach(parent, spelling);
      i = after;
      if (body[i] !== 0x3a) {
        i = skipSpace(body, i, end);
        if (i >= end || body[i] !== 0x3a) return failAt(i);
      }
      i += 1;
      const byte = body[i] as number;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) i = skipSpace(body, i, end);
      i = this.#value(i, end, spelling.name, depth);
      // of an entry that cannot be taken nothing more is learnt
      if (i < 0 || this.problem !== '') return -1;
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
    const body = this.#input;
    for (let i = 0; i < token.length; i++) if (body[at + i] !== token[i]) return -1;
    return at + token.length;
  }

  /** Reads the value at `at` into the field `name`. */
  #value(at: number, end: number, name: Name, depth: number): number {
    if (at >= end) return failAt(end);
    const byte = this.#input[at] as number;
    if (byte === 0x22) return this.#string(at, end, name);
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const after = skipNumber(this.#input, at, end);
      if (after >= 0) this.#put(name, LITERAL, at, after);
      return after;
    }
    if (byte === 0x7b && name !== this.#message) return this.#object(at, end, name, name.children, depth + 1);
    if (byte === 0x5b || byte === 0x7b) return this.#jsonText(at, end, name, depth);
    if (byte !== 0x74 && byte !== 0x66 && byte !== 0x6e) return failAt(at);
    const after = skipWord(this.#input, at, end);
    if (after >= 0) this.#put(name, byte === 0x6e ? ABSENT : LITERAL, at, after);
    return after;
  }

  #string(at: number, end: number, name: Name): number {
    const after = skipString(this.#input, at, end);
    if (after < 0) return -1;
    if (last.escapes !== UNICODE_ESCAPED) this.#put(name, after === at + 2 ? ABSENT : STRING, at, after);
    else {
      // \u escapes may spell lone surrogates, which are not characters: they become U+FFFD
      const text = (JSON.parse(this.#input.toString('utf8', at, after)) as string).toWellFormed();
      this.set(name, STRING, JSON.stringify(text));
    }
    return after;
  }

  /** An array (or the message's object): kept as compact JSON text. */
  #jsonText(at: number, end: number, name: Name, depth: number): number {
    const after = skipValue(this.#input, at, end);
    if (after < 0) return -1;
    if (depth + shape.depth > MAX_DEPTH) return this.#refuse(`nested deeper than ${String(MAX_DEPTH)} levels`);
    const text = this.#input.toString('utf8', at, after);
    this.set(name, STRING, JSON.stringify(shape.spaced ? compact(text) : text));
    return after;
  }

  #put(name: Name, kind: number, start: number, end: number): void {
    const index = this.#place(name);
    this.kinds[index] = kind;
    this.starts[index] = start;
    this.ends[index] = end;
    this.inArena[index] = this.#inputKind;
  }

  /** The index of a field: its own where the entry has it already, else a new one. */
  #place(name: Name): number {
    if (name.seen === this.entry) {
      // what the guard protects is not overwritten: the write goes to a place that is never read
      return name.index < this.#guard && this.kinds[name.index] !== ABSENT ? MAX_FIELDS : name.index;
    }
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

  /** Notes why the entry cannot be taken; the first reason counts. */
  refuse(problem: string): void {
    this.#refuse(problem);
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

import { ByteMap } from '../core/byte-map.ts';
import { nativeString } from '../rows/native.ts';
import { WordIds, type Word } from '../rows/words.ts';

/** Longest field name, in bytes. */
export const MAX_NAME_BYTES = 256;

/** How many names and spellings are remembered before the tables start afresh: a bound on what hostile producers can fill. */
const MAX_LEARNT = 20_000;

/** A field name in its flattened form, and where in the current entry it was seen. */
export class Name implements Word {
  /** Its place in the dictionaries of columns; 0 for one that is too long, which gets into none. */
  id = 0;
  readonly text: string;
  readonly native: Uint8Array;
  readonly tooLong: boolean;
  /** Has a place of its own in a row (or none at all), so it is not written among the fields. */
  column = false;
  /** The entry (by its running number) in which the name was seen last, and at which index of the draft. */
  seen = 0;
  index = 0;
  /** Its number in the scanner, good as long as the scanner's epoch is `numbered`. */
  number = 0;
  numbered = -1;
  /** Names below this one, when its value is an object. */
  #children: Spellings | null = null;

  constructor(text: string) {
    this.text = text;
    this.native = nativeString(text);
    this.tooLong = Buffer.byteLength(text) > MAX_NAME_BYTES;
  }

  get children(): Spellings {
    this.#children ??= new Spellings();
    return this.#children;
  }

  forgetChildren(): void {
    this.#children = null;
  }
}

/** One way in which a name was written inside its object (with quotes and escapes), and what followed it last time: a guess. */
export type Spelling = {
  readonly token: Uint8Array;
  readonly name: Name;
  next: Spelling | null;
  /** The epoch of the scanner in which it was taught this spelling. */
  taught: number;
};

/** The spellings known inside one object. */
export class Spellings {
  readonly map = new ByteMap<Spelling>(16);
  first: Spelling | null = null;
}

/** A name as it stood, without quotes or escapes, in a format other than JSON. */
type RawName = { readonly token: Uint8Array; readonly name: Name };

/** All names seen so far. One for a process: entries of all tenants share the names, never values. */
export class Names {
  readonly #byText = new Map<string, Name>();
  readonly #pinned = new Map<string, Name>();
  #raw = new ByteMap<RawName>(256);
  /** How often it was trimmed. A name that was not pinned is to be looked up again after that. */
  age = 0;
  /** Names and spellings learnt since the last trim. */
  #learnt = 0;
  top = new Spellings();
  readonly ids = new WordIds();

  /** The one Name of a string. */
  of(text: string): Name {
    let name = this.#pinned.get(text) ?? this.#byText.get(text);
    if (name === undefined) {
      name = new Name(text);
      // what is too long is refused with its entry, and not remembered
      if (name.tooLong) return name;
      name.id = this.ids.next();
      this.#byText.set(text, name);
      this.#learnt += 1;
    }
    return name;
  }

  /** The one Name of a string given as bytes; invalid UTF-8 in it becomes U+FFFD. */
  ofBytes(bytes: Buffer, start: number, end: number): Name {
    const known = this.#raw.find(bytes, start, end);
    if (known !== undefined) return known.name;
    const name = this.of(bytes.toString('utf8', start, end));
    if (!name.tooLong) {
      this.#raw.add({ token: Uint8Array.prototype.slice.call(bytes, start, end), name });
      this.#learnt += 1;
    }
    return name;
  }

  /** The one Name of a string that code keeps: it is never forgotten. */
  pin(text: string): Name {
    const name = this.of(text);
    this.#pinned.set(text, name);
    return name;
  }

  /** Learns how a name is written inside the object `parent` (null: at the top). The token is valid JSON, with its quotes. */
  learn(parent: Name | null, bytes: Uint8Array, start: number, end: number): Spelling {
    const token = Uint8Array.prototype.slice.call(bytes, start, end);
    const own = JSON.parse(Buffer.from(token).toString('utf8')) as string;
    const text = (parent === null ? own : `${parent.text}.${own}`).toWellFormed();
    // what is too long is refused with its entry, and not remembered
    if (Buffer.byteLength(text) > MAX_NAME_BYTES) return { token, name: new Name(text), next: null, taught: -1 };
    const spelling: Spelling = { token, name: this.of(text), next: null, taught: -1 };
    (parent === null ? this.top : parent.children).map.add(spelling);
    this.#learnt += 1;
    return spelling;
  }

  /** Forgets all but the pinned names when too many have come in. Only between entries. */
  trim(): void {
    if (this.#learnt < MAX_LEARNT) return;
    this.ids.restart();
    for (const name of this.#pinned.values()) {
      name.forgetChildren();
      name.id = this.ids.next();
    }
    this.#byText.clear();
    this.#raw = new ByteMap<RawName>(256);
    this.#learnt = 0;
    this.age += 1;
    this.top = new Spellings();
  }
}

/** A name that our own code writes, so that it is looked up once and not for each entry. */
export class FixedName {
  readonly text: string;
  #names: Names | null = null;
  #name: Name | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** The Name of this string among these names. */
  in(names: Names): Name {
    if (this.#names !== names || this.#name === null) {
      this.#name = names.pin(this.text);
      this.#names = names;
    }
    return this.#name;
  }
}

/**
 * What `JSON.parse` gives, also where a name in an object is written with an escape. V8 up to the one of Node 26.10 may read such a name as
 * another one (https://github.com/nodejs/node/issues/63785): `{"a":1,"\n":2}` as `{"a":1,"\\":2}` once some object had the names `a` and `\`.
 * For texts in which tenants choose names; throws `JSON.parse`'s errors.
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes('\\') && hasEscapedName(text) ? new Reader(text).value() : value;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];

/** Whether a string with an escape stands before a colon. The text is JSON. Time is linear. */
function hasEscapedName(text: string): boolean {
  let escape = text.indexOf('\\');
  for (let open = text.indexOf('"'); open >= 0 && escape >= 0;) {
    const close = endOfString(text, open);
    if (escape < open) escape = text.indexOf('\\', open);
    if (escape >= 0 && escape < close && text.charCodeAt(afterBlanks(text, close + 1)) === COLON) return true;
    open = text.indexOf('"', close + 1);
  }
  return false;
}

/** Where the string that begins here has its last quote. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; ; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** Reads a text that is JSON, name by name. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    this.#at = afterBlanks(this.#text, this.#at);
    const first = this.#text[this.#at];
    if (first === '{') return this.#object();
    if (first === '[') return this.#array();
    if (first === '"') return this.#string();
    const start = this.#at;
    while (this.#at < this.#text.length && !',]} \n\r\t'.includes(this.#text[this.#at] ?? '')) this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as unknown;
  }

  #string(): string {
    const start = this.#at;
    this.#at = endOfString(this.#text, start) + 1;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #object(): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (let more = this.#enters('}'); more; more = this.#goesOn()) {
      this.#at = afterBlanks(this.#text, this.#at);
      const name = this.#string();
      this.#at = afterBlanks(this.#text, this.#at) + 1;
      const value = this.value();
      if (name === '__proto__') Object.defineProperty(made, name, { value, writable: true, enumerable: true, configurable: true });
      else made[name] = value;
    }
    return made;
  }

  #array(): unknown[] {
    const made: unknown[] = [];
    for (let more = this.#enters(']'); more; more = this.#goesOn()) made.push(this.value());
    return made;
  }

  /** Steps over an opening bracket; false where its end follows, which is stepped over too. */
  #enters(end: string): boolean {
    this.#at = afterBlanks(this.#text, this.#at + 1);
    if (this.#text[this.#at] !== end) return true;
    this.#at++;
    return false;
  }

  /** Steps over a comma or the closing bracket; true behind a comma. */
  #goesOn(): boolean {
    this.#at = afterBlanks(this.#text, this.#at) + 1;
    return this.#text[this.#at - 1] === ',';
  }
}

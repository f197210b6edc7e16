const [NEWLINE, RETURN, SPACE, QUOTE, COMMA, EQUALS, BACKSLASH] = [0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x3d, 0x5c];

const isEscaped = (byte: number): boolean => byte === COMMA || byte === EQUALS || byte === SPACE;

/** Why a line cannot be read. */
export class LineFault extends Error {}

/** A field of a line: its name, and where its value lies. */
export type Field = { readonly name: string; readonly start: number; readonly end: number };

/**
 * Reads lines of InfluxDB's line protocol where they lie (https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/). Quotes of strings
 * may have line feeds between them. `next` goes to a line; what it says is read by `read`, which throws LineFault.
 */
export class LineReader {
  readonly #body: Buffer;
  #next = 0;
  #nextNumber = 1;
  #start = 0;
  #end = 0;
  #at = 0;
  /** The number of the line in the body, from 1. */
  number = 0;
  measurement = '';
  readonly tags: [string, string][] = [];
  readonly fields: Field[] = [];
  /** Digits; empty where the line has none. */
  timestamp = '';

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Goes to the next line that is neither empty nor a comment; false behind the last. */
  next(): boolean {
    const body = this.#body;
    while (this.#next < body.length) {
      this.#start = this.#next;
      this.number = this.#nextNumber;
      this.#findEnd();
      this.#next = this.#end + 1;
      let end = this.#end;
      if (end > this.#start && body[end - 1] === RETURN) end -= 1;
      let start = this.#start;
      while (start < end && (body[start] === SPACE || body[start] === 0x09)) start += 1;
      this.#start = start;
      this.#end = end;
      if (start < end && body[start] !== 0x23) return true;
    }
    return false;
  }

  read(): void {
    this.#at = this.#start;
    this.tags.length = 0;
    this.fields.length = 0;
    this.measurement = this.#word(COMMA, SPACE, SPACE);
    if (this.measurement === '') throw new LineFault('the measurement is missing');
    while (this.#take(COMMA)) {
      const name = this.#word(EQUALS, COMMA, SPACE);
      if (name === '' || !this.#take(EQUALS)) throw new LineFault('a tag has no name or no value');
      const value = this.#word(COMMA, SPACE, EQUALS);
      if (value === '') throw new LineFault(`the tag ${JSON.stringify(name.slice(0, 100))} has no value`);
      this.tags.push([name, value]);
    }
    this.#spaces('the fields are missing');
    do this.#field();
    while (this.#take(COMMA));
    this.#readTimestamp();
  }

  #field(): void {
    const name = this.#word(EQUALS, COMMA, SPACE);
    if (name === '' || !this.#take(EQUALS)) throw new LineFault('a field has no name or no value');
    const start = this.#at;
    if (this.#body[start] === QUOTE && start < this.#end) {
      this.#at = this.#quoted(start + 1);
      if (this.#at < 0) throw new LineFault(`the string of the field ${JSON.stringify(name.slice(0, 100))} does not end`);
    } else while (this.#at < this.#end && this.#body[this.#at] !== COMMA && this.#body[this.#at] !== SPACE) this.#at += 1;
    if (this.#at === start) throw new LineFault(`the field ${JSON.stringify(name.slice(0, 100))} has no value`);
    this.fields.push({ name, start, end: this.#at });
  }

  #readTimestamp(): void {
    this.timestamp = '';
    if (this.#at === this.#end) return;
    this.#spaces('something follows a value');
    let end = this.#end;
    while (end > this.#at && this.#body[end - 1] === SPACE) end -= 1;
    this.timestamp = this.#body.toString('latin1', this.#at, Math.min(end, this.#at + 30));
    if (this.timestamp !== '' && !/^-?\d{1,19}$/.test(this.timestamp))
      throw new LineFault(`${JSON.stringify(this.timestamp)} is not a timestamp`);
  }

  #spaces(missing: string): void {
    if (this.#body[this.#at] !== SPACE || this.#at >= this.#end) throw new LineFault(missing);
    while (this.#at < this.#end && this.#body[this.#at] === SPACE) this.#at += 1;
  }

  #take(byte: number): boolean {
    if (this.#at >= this.#end || this.#body[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }

  /** A name or a value of a tag, up to one of these bytes; a backslash before a comma, an equals sign or a space is not part of it. */
  #word(a: number, b: number, c: number): string {
    const body = this.#body;
    const from = this.#at;
    let escaped = false;
    let at = from;
    for (; at < this.#end; at++) {
      const byte = body[at] as number;
      if (byte === BACKSLASH && at + 1 < this.#end && isEscaped(body[at + 1] as number)) {
        escaped = true;
        at += 1;
      } else if (byte === a || byte === b || byte === c) break;
    }
    this.#at = Math.min(at, this.#end);
    const text = body.toString('utf8', from, this.#at);
    return escaped ? text.replaceAll(/\\([,= ])/g, '$1') : text;
  }

  /** Behind the quote that ends the string; -1 where there is none. */
  #quoted(from: number): number {
    const body = this.#body;
    for (let at = from; at < this.#end; at++) {
      if (body[at] === BACKSLASH) at += 1;
      else if (body[at] === QUOTE) return at + 1;
    }
    return -1;
  }

  /** Finds the line feed that ends the line. Of quotes that never end, the first line feed does. */
  #findEnd(): void {
    const body = this.#body;
    const first = body.indexOf(NEWLINE, this.#start);
    const line = first < 0 ? body.length : first;
    const isComment = body[this.#start] === 0x23;
    // most lines have no strings
    const quote = isComment ? -1 : body.subarray(this.#start, line).indexOf(QUOTE);
    const end = quote < 0 ? line : this.#endBehindStrings(line);
    for (let at = this.#start; at < end;) {
      const feed = body.indexOf(NEWLINE, at);
      if (feed < 0 || feed >= end) break;
      this.#nextNumber += 1;
      at = feed + 1;
    }
    this.#nextNumber += 1;
    this.#end = end;
  }

  #endBehindStrings(line: number): number {
    const body = this.#body;
    let at = this.#start;
    // quotes are plain in measurement and tags
    while (at < line && body[at] !== SPACE) at += body[at] === BACKSLASH && isEscaped(body[at + 1] ?? 0) ? 2 : 1;
    let isInside = false;
    for (; at < body.length; at++) {
      const byte = body[at];
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInside = !isInside;
      else if (byte === NEWLINE && !isInside) return at;
    }
    return isInside ? line : body.length;
  }
}

import { QUOTE } from '../wire/bytes.ts';
import { renderStream } from '../core/labels.ts';

const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const COMMA = 0x2c;

/**
 * Makes the string of a stream (`renderStream`) of the tokens of its labels, byte by byte: a JSON string without a backslash is its own
 * canonical form. A set of tokens is, for each label, the place of its name among the names, the token as it stood, and a line feed,
 * which no token holds; labels are in the order of their names.
 */
export class LabelText {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096);
  readonly #names: readonly string[];
  readonly #prefixes: readonly Buffer[];

  /** `names`: sorted, as `renderStream` sorts them. */
  constructor(names: readonly string[]) {
    this.#names = names;
    // `name=""`, of which the value is cut
    this.#prefixes = names.map((name) => Buffer.from(renderStream([[name, 'x']]).slice(1, -'"x"}'.length)));
  }

  /** Writes the string of the tokens that lie at `tokens[start..end)` into `bytes`; gives its length. */
  write(tokens: Buffer, start: number, end: number): number {
    const most = (end - start) * 2 + this.#prefixes.reduce((sum, { length }) => sum + length + 1, 2);
    if (this.bytes.length < most) this.bytes = Buffer.allocUnsafeSlow(most * 2);
    const { bytes } = this;
    let length = 0;
    bytes[length++] = 0x7b;
    for (let at = start; at < end;) {
      const prefix = this.#prefixes[tokens[at++] as number] as Buffer;
      // an empty value is not a label
      if (tokens[at] === QUOTE && tokens[at + 1] === QUOTE) {
        at += 3;
        continue;
      }
      if (length > 1) bytes[length++] = COMMA;
      for (let from = 0; from < prefix.length; from++) bytes[length++] = prefix[from] as number;
      const isString = tokens[at] === QUOTE;
      if (!isString) bytes[length++] = QUOTE;
      for (let byte = tokens[at++] as number; byte !== LINE_FEED; byte = tokens[at++] as number) {
        if (byte === BACKSLASH) return this.#rewrite(tokens, start, end);
        bytes[length++] = byte;
      }
      if (!isString) bytes[length++] = QUOTE;
    }
    bytes[length++] = 0x7d;
    return length;
  }

  /** The stream as a string. */
  read(tokens: Buffer, start: number, end: number): string {
    const length = this.write(tokens, start, end);
    return this.bytes.toString('utf8', 0, length);
  }

  /** What `write` does where a token has escapes. */
  #rewrite(tokens: Buffer, start: number, end: number): number {
    const pairs: [string, string][] = [];
    for (let at = start; at < end;) {
      const name = this.#names[tokens[at] as number] as string;
      const feed = tokens.indexOf(LINE_FEED, at + 1);
      const token = tokens.toString('utf8', at + 1, feed);
      pairs.push([name, token.startsWith('"') ? (JSON.parse(token) as string) : token]);
      at = feed + 1;
    }
    const text = Buffer.from(renderStream(pairs));
    if (this.bytes.length < text.length) this.bytes = Buffer.allocUnsafeSlow(text.length * 2);
    return text.copy(this.bytes);
  }
}

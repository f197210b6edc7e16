/** Strings of PromQL: in double or single quotes with Go's escapes, in backquotes as they are. */

const SHORT: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 };
const LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** The string within quotes; null where an escape is wrong. Bytes that are no UTF-8 become lone surrogates from U+DC80. */
export function unquote(quoted: string): string | null {
  const mark = quoted[0] ?? '';
  const inner = quoted.slice(1, -1);
  if (mark === '`') return inner;
  if (!inner.includes('\\')) return inner;
  const parts: Buffer[] = [];
  for (let at = 0; at < inner.length;) {
    if (inner[at] !== '\\') {
      const next = inner.indexOf('\\', at);
      const end = next < 0 ? inner.length : next;
      parts.push(Buffer.from(inner.slice(at, end)));
      at = end;
      continue;
    }
    const escape = readEscape(inner, at + 1, mark);
    if (escape === null) return null;
    parts.push(escape.bytes);
    at = escape.end;
  }
  return decode(Buffer.concat(parts));
}

function readEscape(text: string, at: number, mark: string): { readonly bytes: Buffer; readonly end: number } | null {
  const kind = text[at] ?? '';
  const short = kind === mark ? mark.charCodeAt(0) : SHORT[kind];
  if (short !== undefined) return { bytes: Buffer.from([short]), end: at + 1 };
  const octal = /^[0-7]{3}/.exec(text.slice(at))?.[0];
  if (octal !== undefined) {
    const code = Number.parseInt(octal, 8);
    return code > 255 ? null : { bytes: Buffer.from([code]), end: at + 3 };
  }
  const length = LENGTHS[kind];
  const digits = text.slice(at + 1, at + 1 + (length ?? 0));
  if (length === undefined || digits.length !== length || !/^[0-9a-fA-F]+$/.test(digits)) return null;
  const code = Number.parseInt(digits, 16);
  if (kind === 'x') return { bytes: Buffer.from([code]), end: at + 3 };
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return null;
  return { bytes: Buffer.from(String.fromCodePoint(code)), end: at + 1 + length };
}

/** UTF-8, byte for byte: what is none of it stays apart from all other strings. */
function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let out = '';
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0;
    const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    const part = bytes.subarray(at, at + length);
    const char = part.toString('utf8');
    if (length > 0 && Buffer.from(char).equals(part)) {
      out += char;
      at += length;
    } else {
      out += String.fromCharCode(0xdc00 + first);
      at += 1;
    }
  }
  return out;
}

/**
 * Case folding as `i(...)` means it: each character by itself to its simple lower case (Unicode), so that `İ` becomes `i` and a final
 * `Σ` becomes `σ`. Neither String.toLowerCase nor ClickHouse's lowerUTF8 is that by itself.
 */

const CHANGES = /[A-Z]|[^\p{ASCII}]/u;
/** The one character whose full lower case is longer than its simple one. */
const DOTTED_I = '\u0130';

const lowerOf = (char: string): string => (char === DOTTED_I ? 'i' : char.toLowerCase());

/** The string in lower case, character by character. */
export function foldCase(text: string): string {
  if (!CHANGES.test(text)) return text;
  let out = '';
  for (const char of text) out += lowerOf(char);
  return out;
}

let variants: ReadonlyMap<string, string> | null = null;

/** All characters that fold to this (folded) one, itself first. */
export function foldsTo(char: string): string {
  variants ??= collectVariants();
  return char + (variants.get(char) ?? '');
}

function collectVariants(): Map<string, string> {
  const all = new Map<string, string>();
  for (let code = 0x41; code <= 0x1ffff; code += 1) {
    if (code === 0xd800) code = 0xe000;
    const char = String.fromCodePoint(code);
    const lower = lowerOf(char);
    if (lower !== char) all.set(lower, (all.get(lower) ?? '') + char);
  }
  return all;
}

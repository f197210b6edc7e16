/** Patterns with fields in angle brackets: `ip=<ip> <_> <plain:user>`, as `extract` reads and `format` writes them. */
import type { Parser } from '../base/types.ts';

/** A piece of text and the field after it; no field at the end of the pattern. `option` is what stands before a colon. */
export type PatternStep = { readonly text: string; readonly field: string; readonly option: string };

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const ENTITY = /&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));/g;

/** The string with its entities of HTML as characters: `&lt;`, `&#60;`, `&#x3c;`. */
const unescape = (text: string): string =>
  text.replace(ENTITY, (all, name: string | undefined, decimal: string | undefined, hex: string | undefined) => {
    if (name !== undefined) return ENTITIES[name] ?? all;
    const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : all;
  });

/** Reads a pattern; null when a bracket is not closed. `<_>` and `<>` are fields without a name. */
function parsePattern(pattern: string): readonly PatternStep[] | null {
  const steps: PatternStep[] = [];
  let at = 0;
  for (;;) {
    const open = pattern.indexOf('<', at);
    if (open < 0) {
      if (at < pattern.length) steps.push({ text: unescape(pattern.slice(at)), field: '', option: '' });
      return steps;
    }
    const close = pattern.indexOf('>', open);
    if (close < 0) return null;
    const inside = pattern.slice(open + 1, close);
    const colon = inside.indexOf(':');
    const name = inside.slice(colon + 1).trim();
    steps.push({
      text: unescape(pattern.slice(at, open)),
      field: name === '_' || name === '*' ? '' : name,
      option: colon < 0 ? '' : inside.slice(0, colon).trim(),
    });
    at = close + 1;
  }
}

/** The pattern that stands here, as one token. */
export function patternHere(parser: Parser): { readonly pattern: string; readonly steps: readonly PatternStep[] } {
  const { lexer } = parser;
  const at = lexer.save();
  const pattern = lexer.compound('a pattern in quotes');
  const steps = parsePattern(pattern);
  if (steps !== null) return { pattern, steps };
  lexer.restore(at);
  return lexer.fail('expected a pattern in which each "<" has its ">"');
}

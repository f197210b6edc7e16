/** What a query's tokens are to the eye: fields, values, operators, pipes. By the service's own lexer. */
import { PIPE_NAMES, STATS_NAMES, quote } from '../../../logsql/base/reserved.ts';
import { tokenize, type Token } from '../../../logsql/base/lexer.ts';

export type Kind = 'field' | 'value' | 'keyword' | 'pipe' | 'sign' | 'plain';
export type Piece = { readonly text: string; readonly kind: Kind };

const WORDS = new Set(['and', 'or', 'not', 'by', 'as', 'if', 'limit', 'offset', 'desc', 'asc', 'from', 'with', 'on', 'at']);
const PIPES = new Set(PIPE_NAMES);
const FUNCTIONS = new Set(STATS_NAMES);

/** The query as pieces that are together exactly its text. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  const tokens = tokenize(text);
  let at = 0;
  let isInPipes = false;
  tokens.forEach((token, index) => {
    if (token.offset > at) pieces.push({ text: text.slice(at, token.offset), kind: 'plain' });
    at = token.offset + token.raw.length;
    if (token.raw === '|') isInPipes = true;
    if (token.kind !== 'end') pieces.push({ text: token.raw, kind: kindOf(tokens, index, isInPipes) });
  });
  return pieces;
}

function kindOf(tokens: readonly Token[], index: number, isInPipes: boolean): Kind {
  const token = tokens[index];
  const [before, after] = [tokens[index - 1], tokens[index + 1]];
  if (token === undefined) return 'plain';
  if (token.kind === 'punctuation') return ['!', '-'].includes(token.raw) ? 'keyword' : token.raw === '|' ? 'pipe' : 'sign';
  if (after?.raw === ':' && !after.spaced) return 'field';
  const word = token.kind === 'word' ? token.raw.toLowerCase() : '';
  if (isInPipes && PIPES.has(word) && before?.raw === '|') return 'pipe';
  if (after?.raw === '(' && !after.spaced && (FUNCTIONS.has(word) || !isInPipes)) return 'keyword';
  if (WORDS.has(word) && !(before?.raw === ':' && !token.spaced)) return 'keyword';
  if (isInPipes && token.kind === 'word' && !/^\d/.test(token.raw)) return 'field';
  return 'value';
}

/** Where the filter in front of the pipes ends. */
function headEnd(text: string): number {
  let depth = 0;
  for (const { raw, offset } of tokenize(text)) {
    if (raw === '(' || raw === '{') depth += 1;
    if (raw === ')' || raw === '}') depth -= 1;
    if (raw === '|' && depth === 0) return offset;
  }
  return text.length;
}

/** The query in two: its filter, and its pipes with the first `|`. */
export function split(text: string): readonly [filter: string, pipes: string] {
  const at = headEnd(text);
  return [text.slice(0, at).trim(), text.slice(at).trim()];
}

export const hasPipes = (text: string): boolean => headEnd(text) < text.length;

/** Whether `or` stands outside of parentheses: then what is added needs them. */
function hasOpenOr(filter: string): boolean {
  let depth = 0;
  return tokenize(filter).some(({ raw, kind }) => {
    if (raw === '(') depth += 1;
    if (raw === ')') depth -= 1;
    return depth === 0 && kind === 'word' && raw.toLowerCase() === 'or';
  });
}

/** A filter for exactly this value; an empty one is of entries that lack the field. */
export function exactly(field: string, value: string): string {
  return value === '' ? `${quote(field)}:""` : `${quote(field)}:=${quote(value)}`;
}

/** The query with one more condition; not twice the same. */
export function withFilter(query: string, field: string, value: string, isNot: boolean): string {
  const [filter, pipes] = split(query);
  const [own, other] = [exactly(field, value), `NOT ${exactly(field, value)}`];
  const added = isNot ? other : own;
  // what was asked for the other way round is turned
  const known = chipsOf(query).find((chip) => chip.field === field && chip.value === value);
  if (known !== undefined && known.isNot === isNot) return query;
  const base = known === undefined ? filter : split(withoutChip(query, known))[0];
  const joined = base === '' || base === '*' ? added : `${hasOpenOr(base) ? `(${base})` : base} ${added}`;
  return pipes === '' ? joined : `${joined} ${pipes}`;
}

/** The query for this value alone: no other condition on the field. */
export function onlyFilter(query: string, field: string, value: string): string {
  let rest = query;
  for (let chip = chipsOf(rest).find((one) => one.field === field); chip !== undefined; chip = chipsOf(rest).find((one) => one.field === field)) rest = withoutChip(rest, chip); // prettier-ignore
  return withFilter(rest, field, value, false);
}

export type Chip = {
  readonly field: string;
  readonly value: string;
  readonly isNot: boolean;
  readonly start: number;
  readonly end: number;
};

/** The conditions on a field that stand alone at the top of the filter, joined by AND; none where there is an OR. */
export function chipsOf(query: string): Chip[] {
  const end = headEnd(query);
  const filter = query.slice(0, end);
  if (hasOpenOr(filter)) return [];
  const tokens = tokenize(filter);
  const chips: Chip[] = [];
  let depth = 0;
  for (let index = 0; index < tokens.length; index += 1) {
    const { raw } = tokens[index] ?? { raw: '' };
    if (raw === '(' || raw === '{') depth += 1;
    if (raw === ')' || raw === '}') depth -= 1;
    const chip = depth === 0 ? chipAt(tokens, index) : null;
    if (chip === null) continue;
    chips.push(chip.chip);
    index = chip.next - 1;
  }
  return chips;
}

function chipAt(tokens: readonly Token[], from: number): { readonly chip: Chip; readonly next: number } | null {
  let index = from;
  const first = tokens[index];
  if (first === undefined || (tokens[index - 1]?.raw === ':' && !first.spaced)) return null;
  const isNot = first.kind !== 'quoted' && ['not', '!', '-'].includes(first.raw.toLowerCase());
  if (isNot) index += 1;
  const [field, colon] = [tokens[index], tokens[index + 1]];
  if (field === undefined || (field.kind !== 'word' && field.kind !== 'quoted') || colon?.raw !== ':' || colon.spaced) return null;
  index += 2;
  if (tokens[index]?.raw === '=' && tokens[index]?.spaced === false) index += 1;
  const [value, after] = [tokens[index], tokens[index + 1]];
  if (value === undefined || value.spaced || (value.kind !== 'word' && value.kind !== 'quoted')) return null;
  if (after !== undefined && after.kind !== 'end' && !after.spaced && after.raw !== ')') return null;
  const chip = { field: field.text, value: value.text, isNot, start: first.offset, end: value.offset + value.raw.length };
  return { chip, next: index + 1 };
}

/** The query without a condition; `*` where none is left. */
export function withoutChip(query: string, { start, end }: Chip): string {
  const [before, after] = [query.slice(0, start).replace(/\s*\band\s*$/i, ''), query.slice(end).replace(/^\s*and\b/i, '')];
  const rest = `${before.trim()} ${after.trim()}`.trim();
  return rest === '' || rest.startsWith('|') ? `* ${rest}`.trim() : rest;
}

/** Words that the filter searches messages for, to mark them. */
export function termsOf(query: string): string[] {
  const tokens = tokenize(query.slice(0, headEnd(query)));
  const terms: string[] = [];
  tokens.forEach((token, index) => {
    const [before, after] = [tokens[index - 1], tokens[index + 1]];
    if (token.kind !== 'word' && token.kind !== 'quoted') return;
    if (token.kind === 'word' && WORDS.has(token.raw.toLowerCase())) return;
    const isValue = before?.raw === ':' && tokens[index - 2]?.text !== '_msg';
    const isNegated = before !== undefined && ['not', '!', '-'].includes(before.raw.toLowerCase());
    const isField = after?.raw === ':' && !after.spaced;
    const isAfterSign = before?.raw === '=' || before?.raw === '~' || before?.raw === '{';
    if (!isValue && !isNegated && !isField && !isAfterSign && after?.raw !== '(' && after?.raw !== '=' && token.text.length > 1)
      terms.push(token.text);
  });
  return [...new Set(terms)];
}

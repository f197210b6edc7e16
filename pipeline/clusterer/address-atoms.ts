import { SPACE, TRIMMED, isDigit, isHex, isLetter } from './byte-classes.ts';
import { addressEnd, anyWithPortEnd, portBehindBrackets } from './ipv6.ts';
import { ID } from './placeholders.ts';
import type { TemplateText } from './template-text.ts';

const [COLON, BRACKET, BRACKET_END, UNDERSCORE, STAR] = [0x3a, 0x5b, 0x5d, 0x5f, 0x2a] as const;
/** An id in brackets, in a template. */
const IN_BRACKETS = '[<ID>]'.length;

/** An atom of a message, `bytes[start, end)`, which was written at `at`; its signs in front are trimmed up to `from`. */
export type Atom = {
  readonly messageFrom: number;
  readonly messageEnd: number;
  readonly start: number;
  readonly from: number;
  readonly end: number;
  readonly at: number;
  /** It is the value of a `key=`. */
  readonly isValue: boolean;
};

/** Whether an atom may be what `putAddress` looks for: most are not, which their first bytes show. */
export function mayBeAddress(bytes: Uint8Array, start: number, from: number, end: number): boolean {
  let lead = start;
  while (lead < from && bytes[lead] !== COLON) lead += 1;
  if (lead < from) {
    const next = lead + 1 < end ? (bytes[lead + 1] as number) : SPACE;
    return next === COLON || (lead === start && bytes[start - 1] === BRACKET_END && (isDigit(next) || next === STAR));
  }
  for (let index = from; index < end && index < from + 5; index += 1) {
    if (bytes[index] === COLON) return true;
    if (!isHex(bytes[index] as number)) return false;
  }
  return false;
}

/** Whether an atom is an IPv6 address, or the port behind one in brackets; its placeholder is written then. */
export function putAddress(text: TemplateText, bytes: Uint8Array, atom: Atom): boolean {
  const { start, from, end, at } = atom;
  let lead = start;
  while (lead < from && bytes[lead] !== COLON) lead += 1;
  const port = lead === start && lead < from ? portBehindBrackets(bytes, atom.messageFrom, start, end) : -1;
  const after = port < 0 ? addressAtomEnd(text, bytes, atom, lead) : port;
  if (after < 0 || (port >= 0 && !text.hasIdInBrackets(at))) return false;
  for (let trail = after; trail < end; trail += 1) if (((TRIMMED[bytes[trail] as number] as number) & 2) === 0) return false;
  text.replace(port < 0 ? at + lead - start : at - IN_BRACKETS, ID);
  text.copy(bytes, after, end);
  return true;
}

function addressAtomEnd(text: TemplateText, bytes: Uint8Array, atom: Atom, lead: number): number {
  const before = lead - 2 >= atom.messageFrom && bytes[lead - 1] === BRACKET ? (bytes[lead - 2] as number) : SPACE;
  // a slice, `a[::2]`
  if (isLetter(before) || isDigit(before) || before === UNDERSCORE) return -1;
  const after = addressEnd(bytes, lead, atom.end);
  if (after !== lead + 2 || bytes[lead] !== COLON) return after;
  const withPort = anyWithPortEnd(bytes, lead, atom.end);
  return withPort < 0 && !isAny(text, bytes, atom) ? -1 : Math.max(after, withPort);
}

/** Whether an atom `::` is an address: in brackets, behind `key=`, or behind a word that announces one. */
function isAny(text: TemplateText, bytes: Uint8Array, atom: Atom): boolean {
  const { start, end, at } = atom;
  if (bytes[start] !== COLON || (end - start > 2 && bytes[start + 2] === COLON)) return false;
  if (atom.isValue || text.announcesAddress(at)) return true;
  return start > atom.messageFrom && bytes[start - 1] === BRACKET && end < atom.messageEnd && bytes[end] === BRACKET_END;
}

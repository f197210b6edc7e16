/** The text of a log as pieces: never markup. Colours of terminals become styles, what has no shape is shown as a sign. */

export type TextPiece = { readonly text: string; readonly style: string };

/** `mark`: a searched term. `value`: what changes from message to message. `sign`: a character that cannot be seen. */
const ESCAPE = '\u001b';
/* eslint-disable no-control-regex -- these are what is looked for */
const SPECIAL =
  /\u001b\[([0-9;]{0,40})m|\u001b\[[0-9;?]{0,40}[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
/* eslint-enable no-control-regex */
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const VALUE = /(?<==)[^\s,;"'}\]]{1,200}|\b\d+(?:[.:]\d+){0,8}\b/g;

/** A message in pieces that stand for all of its characters. */
export function textPieces(text: string, terms: readonly string[] = [], withValues = true): TextPiece[] {
  const pieces: TextPiece[] = [];
  let [at, style] = [0, ''];
  const add = (until: number): void => {
    if (until > at) pieces.push(...plainPieces(text.slice(at, until), style, terms, withValues));
  };
  for (const found of text.matchAll(SPECIAL)) {
    add(found.index);
    const [whole, codes] = found;
    at = found.index + whole.length;
    if (codes !== undefined) style = styleOf(style, codes);
    else if (!whole.startsWith(`${ESCAPE}[`)) pieces.push({ text: signOf(whole), style: 'sign' });
  }
  add(text.length);
  return pieces;
}

/** How a character that has no shape is shown: `␛`, `U+202E`. */
function signOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The style after a sequence of codes of a terminal. */
function styleOf(before: string, codes: string): string {
  let styles = before.split(' ').filter((one) => one !== '');
  for (const code of codes === '' ? [0] : codes.split(';').map(Number)) {
    if (code === 0) styles = [];
    else if (code === 1) styles = [...styles.filter((one) => one !== 'a-bold'), 'a-bold'];
    else if (code === 22) styles = styles.filter((one) => one !== 'a-bold');
    else if (code === 39 || (code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      styles = styles.filter((one) => one === 'a-bold');
      const colour = code === 39 ? undefined : COLOURS[code % 10];
      if (colour !== undefined) styles.push(`a-${colour}`);
    }
  }
  return styles.join(' ');
}

/** Text without special characters: terms marked, and values apart from words. */
function plainPieces(text: string, style: string, terms: readonly string[], withValues: boolean): TextPiece[] {
  const cuts = [...markedRanges(text, terms), ...(withValues && style === '' ? valueRanges(text) : [])].sort((a, b) => a.start - b.start);
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const { start, end, style: own } of cuts) {
    if (start < at) continue;
    if (start > at) pieces.push({ text: text.slice(at, start), style });
    pieces.push({ text: text.slice(start, end), style: own });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), style });
  return pieces;
}

type Range = { readonly start: number; readonly end: number; readonly style: string };

function markedRanges(text: string, terms: readonly string[]): Range[] {
  const lower = text.toLowerCase();
  const ranges: Range[] = [];
  if (lower.length !== text.length) return ranges;
  for (const term of terms) {
    const wanted = term.toLowerCase();
    for (let at = lower.indexOf(wanted); at >= 0 && ranges.length < 50; at = lower.indexOf(wanted, at + wanted.length))
      ranges.push({ start: at, end: at + wanted.length, style: 'mark' });
  }
  return ranges;
}

const valueRanges = (text: string): Range[] =>
  [...text.matchAll(VALUE)].map((found) => ({ start: found.index, end: found.index + found[0].length, style: 'value' }));

/** Characters of a message that a line of the list shows. */
const LINE_CHARACTERS = 2000;

/** A message on one line, and how many characters of it are not shown. */
export function lineOf(message: string): { readonly text: string; readonly rest: number } {
  const text = message.length > LINE_CHARACTERS ? message.slice(0, LINE_CHARACTERS).toWellFormed() : message;
  return { text: text.replace(/[\r\n\t]+/g, ' '), rest: message.length - text.length };
}

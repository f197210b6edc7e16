import { randomBytes } from 'node:crypto';

/** Bytes of a mark: enough that what was written before it was made cannot have it. */
const MARK_BYTES = 12;

/**
 * Characters that are not seen, or change how what follows is shown: controls but for tab and line feed, zero-width and directional ones, and
 * the tags and variation selectors in which a string can hide another one. Ranges of code points.
 */
const UNSEEN_RANGES: readonly (readonly [first: number, last: number])[] = [
  ...([[0x00, 0x08], [0x0b, 0x1f], [0x7f, 0x9f], [0xad, 0xad]] as const), // prettier-ignore
  ...([[0x61c, 0x61c], [0x180e, 0x180e], [0x200b, 0x200f], [0x2028, 0x202e], [0x2060, 0x206f]] as const), // prettier-ignore
  ...([[0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xfff9, 0xfffb], [0xe0000, 0xe01ef]] as const), // prettier-ignore
];
const codeOf = (point: number): string => `\\u{${point.toString(16)}}`;
const UNSEEN = new RegExp(`[${UNSEEN_RANGES.map(([first, last]) => `${codeOf(first)}-${codeOf(last)}`).join('')}]`, 'gu');

const escaped = (found: string): string =>
  Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** The text with what is not seen written as JSON escapes: in JSON it means the same. */
const seen = (text: string): string => text.replace(UNSEEN, escaped);

/** A mark that the text does not have. */
function markOf(text: string): string {
  for (;;) {
    const mark = randomBytes(MARK_BYTES).toString('hex');
    if (!text.includes(mark)) return mark;
  }
}

/**
 * What others wrote, between two lines with a random mark that is new for each call, so that nothing inside can end it. For readers that might
 * take a sentence of a log for an instruction.
 */
export function fenced(text: string): { readonly mark: string; readonly text: string } {
  const inner = seen(text);
  const mark = markOf(inner);
  return { mark, text: `<untrusted-data ${mark}>\n${inner}\n</untrusted-data ${mark}>` };
}

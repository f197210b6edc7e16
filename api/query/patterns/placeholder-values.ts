import { withoutEscapes } from '../../../pipeline/clusterer/escapes.ts';
import { contentOf } from '../../../pipeline/clusterer/message-patterns.ts';
import { PLACEHOLDER } from '../../../pipeline/clusterer/placeholders.ts';

/** Most values that a placeholder is shown with, the most frequent first; longer ones are cut. */
const TOP = 10;
const MAX_VALUE = 200;
/** Most placeholders that are shown with values. */
const MOST_PLACEHOLDERS = 50;

/** What a placeholder took, of the messages that were looked at. */
export type PlaceholderValues = {
  readonly placeholder: string;
  /** Its place among all placeholders of the template, from 0 on. */
  readonly position: number;
  readonly values: readonly { readonly value: string; readonly hits: number }[];
};

/**
 * The values that the placeholders of a template took in messages. The constant parts are found one after another, each at its first place, so
 * that it takes as long as the message is; messages in which they are not there so are passed over.
 */
export function placeholderValues(template: string, messages: readonly string[]): PlaceholderValues[] {
  const placeholders = (template.match(PLACEHOLDER) ?? []).slice(0, MOST_PLACEHOLDERS);
  const constants = template.split(PLACEHOLDER);
  const counts = placeholders.map(() => new Map<string, number>());
  for (const message of messages) {
    const values = valuesIn(contentText(message).replace(/\s+/g, ' ').trim(), constants);
    placeholders.forEach((_placeholder, position) => {
      const value = values?.[position];
      if (value !== undefined) counts[position]?.set(value, (counts[position].get(value) ?? 0) + 1);
    });
  }
  return placeholders.map((placeholder, position) => ({
    placeholder,
    position,
    values: [...(counts[position] ?? [])]
      .sort(([a, more], [b, less]) => less - more || (a < b ? -1 : 1))
      .slice(0, TOP)
      .map(([value, hits]) => ({ value, hits })),
  }));
}

/** A message without the header of a raw line, and without escape sequences. */
function contentText(message: string): string {
  const bytes = Buffer.from(message);
  const { from, to } = contentOf(bytes, 0, bytes.length);
  const text = Buffer.alloc(to - from);
  return text.toString('utf8', 0, withoutEscapes(bytes, from, to, text));
}

/** What stands between the constants; null where they do not stand there. */
function valuesIn(message: string, constants: readonly string[]): string[] | null {
  const [head = '', ...others] = constants;
  if (!message.startsWith(head)) return null;
  const values: string[] = [];
  let at = head.length;
  for (const [index, constant] of others.entries()) {
    const isLast = index === others.length - 1;
    // a placeholder has at least one character
    const end = isLast && constant === '' ? message.length : message.indexOf(constant, at + 1);
    if (end < 0 || at >= message.length) return null;
    const next = isLast && message.endsWith(constant) ? Math.max(end, message.length - constant.length) : end;
    values.push(message.slice(at, next).slice(0, MAX_VALUE));
    at = next + constant.length;
  }
  return values;
}

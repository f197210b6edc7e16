/** An entry as the service gives it, and what names it. */

export type Entry = { readonly [field: string]: unknown };

function fieldText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

/** A value of an entry as text. */
export const textOf = (entry: Entry, field: string): string => fieldText(entry[field]);

/** A small number from text, to tell entries of one time apart. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}

const ids = new WeakMap<Entry, string>();

/** Names an entry in addresses: its time, stream and message. */
export function idOf(entry: Entry): string {
  const known = ids.get(entry);
  if (known !== undefined) return known;
  const id = `${textOf(entry, '_time')}~${hashOf(textOf(entry, '_stream') + textOf(entry, '_msg'))}`;
  ids.set(entry, id);
  return id;
}

const RECENT_MS = 60_000;

/** Whether it may be on its way to the store: a live one is shown before. */
export const isRecent = (entry: Entry): boolean => Date.now() - Date.parse(textOf(entry, '_time')) < RECENT_MS;

/** The key that snippets and the demo send with: that of the one who is signed in, or one that was made here, which is in memory alone. */
import { computed, signal } from '@preact/signals';
import { request } from '../base/api.ts';
import { lacks, session, takesNothing } from '../base/session.ts';

const made = signal<string | null>(null);
const DAY_MS = 864e5;

/** Null where the one who is signed in has none: with a cookie, or without the scope. */
export const sendingKey = computed<string | null>(() => {
  const { key = null, known } = session.value ?? {};
  return made.value ?? (known?.scopes.includes('ingest') === true ? key : null);
});

/** Why nothing can be sent, as no key may, and none can be made that does; null: it can. */
export function cannotSend(): string | null {
  if (takesNothing() !== null) return takesNothing();
  const canMake = session.value?.key === null && lacks('write') === null;
  return sendingKey.value !== null || canMake ? null : lacks('ingest');
}

/** Makes a key that may send, for a day; throws where it is refused. */
export async function makeKey(signal?: AbortSignal): Promise<string> {
  const expires = new Date(Date.now() + DAY_MS).toISOString();
  const { key } = await request('POST /keys', { body: { name: 'first steps in the browser', scopes: ['ingest'], expires } }, signal);
  made.value = key;
  return key;
}

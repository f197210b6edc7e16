/** Watches what goes wrong on a page: errors that no one caught, and what the console is given as one. */

export type SeenError = { readonly kind: 'error' | 'console'; readonly name: string; readonly message: string; readonly stack: string };

const MOST = 4000;
const cut = (text: string): string => text.slice(0, MOST);

function errorOf(kind: SeenError['kind'], value: unknown): SeenError {
  if (value instanceof Error) return { kind, name: value.name, message: cut(value.message), stack: cut(value.stack ?? '') };
  return { kind, name: 'Error', message: cut(shown(value)), stack: '' };
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return value === undefined ? 'undefined' : JSON.stringify(value);
  } catch {
    return String(value);
  }
}

/** Calls `onError` for each from now on; what it returns ends that. */
export function watchErrors(onError: (error: SeenError) => void): () => void {
  const ends = new AbortController();
  const { signal } = ends;
  let isInside = false;
  const report = (error: SeenError): void => {
    if (isInside) return;
    isInside = true;
    try {
      onError(error);
    } finally {
      isInside = false;
    }
  };
  addEventListener('error', (event) => report(errorOf('error', event.error ?? event.message)), { signal });
  addEventListener('unhandledrejection', (event) => report(errorOf('error', event.reason)), { signal });
  const { console } = globalThis;
  const { error: original } = console;
  const watched = (...values: unknown[]): void => {
    original.apply(console, values);
    const thrown = values.find((value) => value instanceof Error);
    const message = values.map((value) => (value instanceof Error ? value.message : shown(value))).join(' ');
    report({ ...errorOf('console', thrown ?? message), message: cut(message) });
  };
  Object.assign(console, { error: watched });
  return () => {
    ends.abort();
    Object.assign(console, { error: original });
  };
}

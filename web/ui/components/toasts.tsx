/** One line that comes and goes, for what has been done. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const shown = signal<readonly { readonly id: number; readonly text: string }[]>([]);
let next = 0;
const SHOWN_MS = 3500;

export function toast(text: string): void {
  const id = next++;
  shown.value = [...shown.value, { id, text }];
  setTimeout(() => void (shown.value = shown.value.filter((one) => one.id !== id)), SHOWN_MS);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toast-area" role="status" aria-live="polite">
      {shown.value.map(({ id, text }) => (
        <div class="toast" key={id}>
          {text}
        </div>
      ))}
    </div>
  );
}

/** Puts a string on the clipboard, and reports it. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    toast('The browser does not let this page use the clipboard');
  }
}

/** Small figures in the bar: what is new to the reader. Pages set their own. */
import { signal } from '@preact/signals';

export type Badge = { readonly text: string; readonly kind: '' | 'error' | 'warn' };

/** By the page's part of the address. */
export const badges = signal<Readonly<Record<string, Badge>>>({});

export function setBadge(page: string, badge: Badge | null): void {
  const { [page]: _before, ...others } = badges.peek();
  badges.value = badge === null ? others : { ...others, [page]: badge };
}

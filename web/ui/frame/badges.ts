/** Small figures in the bar: what is new to the reader. */
import { signal } from '@preact/signals';

/** `unit`: what is counted, where there is room for it. */
export type Badge = { readonly text: string; readonly unit?: string; readonly kind: '' | 'error' | 'warn'; readonly title: string };

/** By the page's part of the address. */
export const badges = signal<Readonly<Record<string, Badge>>>({});

export function setBadge(page: string, badge: Badge | null): void {
  const { [page]: _before, ...others } = badges.peek();
  badges.value = badge === null ? others : { ...others, [page]: badge };
}

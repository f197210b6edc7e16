/** What a reader has chosen for this browser: nothing of it is secret. */
import { effect, signal, type Signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export type Zone = 'utc' | 'local';

function stored<T extends string>(name: string, values: readonly T[], preset: T): Signal<T> {
  const at = `logweir.${name}`;
  const found = localStorage.getItem(at);
  const kept = signal<T>(values.find((value) => value === found) ?? preset);
  effect(() => {
    localStorage.setItem(at, kept.value);
  });
  return kept;
}

export const theme = stored<Theme>('theme', ['system', 'light', 'dark'], 'system');
export const zone = stored<Zone>('zone', ['utc', 'local'], 'utc');
/** Single keys as shortcuts can be switched off (WCAG 2.1.4). */
export const singleKeys = stored<'on' | 'off'>('keys', ['on', 'off'], 'on');

effect(() => {
  const { value } = theme;
  if (value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = value;
});

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Whether it is dark now. */
export const isDark = (): boolean => theme.value === 'dark' || (theme.value === 'system' && dark.matches);

/** From light to dark and back. */
export function flipTheme(): void {
  theme.value = isDark() ? 'light' : 'dark';
}

export function flipZone(): void {
  zone.value = zone.value === 'utc' ? 'local' : 'utc';
}

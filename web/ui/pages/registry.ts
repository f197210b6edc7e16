/** The pages: each is a file of its own that is loaded when it is first visited. */
import type { ComponentType } from 'preact';

export type Page = {
  /** Its part of the address. */
  readonly id: string;
  readonly name: string;
  /** The second key after `g`; null: it is not in the bar. */
  readonly key: string | null;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
};

export const PAGES: readonly Page[] = [
  { id: 'explore', name: 'Explore', key: 'e', load: () => import('../explore/explore.tsx') },
  { id: 'patterns', name: 'Patterns', key: 'p', load: () => import('../patterns/patterns.tsx') },
  { id: 'alerts', name: 'Alerts', key: 'a', load: () => import('../alerts/alerts.tsx') },
  { id: 'ingest', name: 'Ingest', key: 'i', load: () => import('../ingest/ingest.tsx') },
  { id: 'usage', name: 'Usage', key: 'u', load: () => import('../usage/usage.tsx') },
  { id: 'start', name: 'Start', key: 's', load: () => import('../start/start.tsx') },
  // a build for those who change the pages has it
  ...(WITH_COMPONENTS ? [{ id: 'styleguide', name: 'Components', key: null, load: () => import('./styleguide.tsx') }] : []),
];

export const pageOf = (id: string): Page | null => PAGES.find((page) => page.id === id) ?? null;

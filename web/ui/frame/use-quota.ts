import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request } from '../base/api.ts';
import { lacks, session } from '../base/session.ts';
import { quotaOf, type Quota } from './quota.ts';

const EVERY_MS = 300_000;

/** What is to be reported; null: nothing, or it is not known. */
export const quota = signal<Quota | null>(null);

/** Looks every five minutes, and as the tab is looked at again. A key that may not read it has no such line. */
export function useQuota(): void {
  const who = lacks('read', 'tenant') === null ? (session.value?.known.key_id ?? null) : null;
  useEffect(() => {
    quota.value = null;
    if (who === null) return;
    const controller = new AbortController();
    let lookedAt = -EVERY_MS;
    const look = (): void => {
      if (document.hidden || performance.now() - lookedAt < EVERY_MS) return;
      lookedAt = performance.now();
      request('GET /usage', {}, controller.signal).then(
        (usage) => void (quota.value = quotaOf(usage)),
        () => undefined,
      );
    };
    look();
    const timer = setInterval(look, EVERY_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      controller.abort();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [who]);
}

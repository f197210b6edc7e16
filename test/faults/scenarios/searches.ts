import type { Cluster } from '../cluster.ts';

const EVERY_MS = 500;
const PATIENCE_MS = 40_000;

export type SearchAnswer = { readonly at: number; readonly status: number; readonly tookMs: number };

/** Asks one API after the other for the newest entry, twice a second. Status 0: no answer came. */
export function keepSearching({ apis, key }: Pick<Cluster, 'apis' | 'key'>): {
  readonly answers: readonly SearchAnswer[];
  stop(): Promise<void>;
} {
  const answers: SearchAnswer[] = [];
  const open = new Set<Promise<void>>();
  let turn = 0;
  const search = async (): Promise<void> => {
    const url = `${apis[turn++ % apis.length]?.appUrl ?? ''}/api/v1/tenants/1/search`;
    const at = Date.now();
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ query: '*', start: '-5m', limit: 1 });
    const status = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(PATIENCE_MS) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    answers.push({ at, status, tookMs: Date.now() - at });
  };
  const timer = setInterval(() => {
    const task = search().finally(() => open.delete(task));
    open.add(task);
  }, EVERY_MS);
  return {
    answers,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

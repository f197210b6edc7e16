import type { Cluster } from '../cluster.ts';

const UID = /uid=(\d+-\d+\.\d+)\.\d+/;
const LINE_END = '\n';

/**
 * Follows all entries of the first tenant over one API's live tail, a second behind now, and notes when the first entry of each request
 * came (milliseconds since the epoch, by the name of the request).
 */
export function keepTailing({ apis, key }: Pick<Cluster, 'apis' | 'key'>): {
  readonly came: ReadonlyMap<string, number>;
  stop(): Promise<void>;
} {
  const came = new Map<string, number>();
  const ending = new AbortController();
  const follow = async (): Promise<void> => {
    const body = new URLSearchParams({ query: '* | fields _msg', offset: '1s', start_offset: '0s', refresh_interval: '200ms' });
    const url = `${apis[0]?.appUrl ?? ''}/select/logsql/tail`;
    const response = await fetch(url, { method: 'POST', headers: { Authorization: `Bearer ${key}` }, body, signal: ending.signal });
    if (!response.ok || response.body === null) throw new Error(`The tail was answered ${String(response.status)}.`);
    let rest = '';
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split(LINE_END);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const request = UID.exec(line)?.[1];
        if (request !== undefined && !came.has(request)) came.set(request, Date.now());
      }
    }
  };
  const following = follow().catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
  });
  return {
    came,
    stop: async () => {
      ending.abort();
      await following;
    },
  };
}

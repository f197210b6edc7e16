import { MAX_SESSION_MS } from '../pipeline/replay/chunk.ts';
import type { SessionSize, StoredSizes } from '../pipeline/replay/session-recall.ts';
import type { Store } from '../pipeline/store/client.ts';

/** The longest wait for an answer. Milliseconds. */
const DEADLINE_MS = 5000;

/** Each batch once, as a session's row has them; within the time that rows of the sessions may have, by the order of the key, and narrow columns alone. */
const SIZES = `SELECT session, toString(sum(size)), toString(min(begin)), toString(max(end))
FROM (
  SELECT session, bytes AS size, toUnixTimestamp64Milli(min(first)) AS begin, toUnixTimestamp64Milli(max(last)) AS end
  FROM replay_chunks
  WHERE tenant_id = {tenant:UInt32} AND kind = 0 AND session IN {sessions:Array(String)}
    AND first BETWEEN fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  GROUP BY session, seq, part, first, bytes
)
GROUP BY session`;

/** What is stored of sessions, by the shard of the sets that has most of each: one that is being rebuilt has less. Rejects where none answers. */
export function storedSizes(stores: readonly Pick<Store, 'ownerRows'>[]): StoredSizes {
  return async (tenant, sessions) => {
    const spans = [...sessions.values()];
    const from = spans.reduce((least, { first }) => Math.min(least, first), Infinity) - MAX_SESSION_MS;
    const to = spans.reduce((most, { last }) => Math.max(most, last), -Infinity) + MAX_SESSION_MS;
    const params = { tenant, sessions: [...sessions.keys()], from, to };
    const answers = stores.map((store) => store.ownerRows(SIZES, params, AbortSignal.timeout(DEADLINE_MS)));
    const rows = await Promise.allSettled(answers);
    const [fault] = rows.filter(({ status }) => status === 'rejected');
    if (fault?.status === 'rejected' && rows.every(({ status }) => status === 'rejected')) throw fault.reason;
    const found = new Map<string, SessionSize>();
    for (const [session, bytes, first, last] of rows.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))) {
      const size = { bytes: Number(bytes), first: Number(first), last: Number(last) };
      const known = found.get(String(session));
      if (known === undefined || known.bytes < size.bytes) found.set(String(session), size);
    }
    return found;
  };
}

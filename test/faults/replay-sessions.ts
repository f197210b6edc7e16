import { answerText, clickhouseText, linesOf } from './clickhouse-text.ts';
import type { Cluster } from './cluster.ts';
import type { SentTenant } from './sent-tenant.ts';
import type { Violation } from './verdict.ts';

/** What is counted of a session, by hand and by the service. */
type Counts = Readonly<Record<'events' | 'errors' | 'clicks', number>>;
type Event = { readonly type?: number; readonly data?: Readonly<Record<string, unknown>> };
type Row = Readonly<{ session: string; seq: string; body: string }>;

const PAGE = 1000;
/** rrweb's: an incremental event, one about the mouse, a click. */
const [INCREMENT, MOUSE, CLICK] = [3, 2, 2];
const CUSTOM = 5;

/** Counts from the bodies of rows, each batch of a session once. A batch of these runs is one row. */
export function countSessions(rows: readonly Row[]): Map<string, Counts> {
  const bodies = new Map(rows.map(({ session, seq, body }) => [`${session} ${seq}`, { session, body }]));
  const sessions = new Map<string, Counts>();
  for (const { session, body } of bodies.values()) {
    const { events, errors, clicks } = sessions.get(session) ?? { events: 0, errors: 0, clicks: 0 };
    const all = linesOf(body).map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Event); // prettier-ignore
    const isError = ({ type, data }: Event): boolean => type === CUSTOM && data?.['tag'] === 'error';
    const isClick = ({ type, data }: Event): boolean => type === INCREMENT && data?.['source'] === MOUSE && data['type'] === CLICK;
    sessions.set(session, {
      events: events + all.length,
      errors: errors + all.filter(isError).length,
      clicks: clicks + all.filter(isClick).length,
    });
  }
  return sessions;
}

/** What differs between what the service tells of each session and what its rows say. */
export function differences(told: ReadonlyMap<string, Counts>, counted: ReadonlyMap<string, Counts>): string[] {
  return [...new Set([...told.keys(), ...counted.keys()])].flatMap((id) => {
    const text = (counts: Counts | undefined): string =>
      counts === undefined ? 'none' : `${String(counts.events)} events, ${String(counts.errors)} errors, ${String(counts.clicks)} clicks`;
    const [one, other] = [text(told.get(id)), text(counted.get(id))];
    return one === other ? [] : [`${id}: ${one}; counted ${other}`];
  });
}

/** Compares the row of each session, as clients read it, with a count of its stored events. */
export async function recountSessions(cluster: Cluster, { tenant_id: id, key }: SentTenant): Promise<Violation[]> {
  const query = `SELECT session, toString(seq) AS seq, body FROM replay_chunks WHERE tenant_id = ${String(id)} AND kind = 0 FORMAT JSONEachRow`;
  const rows = linesOf(await clickhouseText(cluster, query)).map((line) => JSON.parse(line) as Row);
  const told = new Map<string, Counts>();
  let before: string | null = null;
  do {
    const parameters = new URLSearchParams({ query: '*', start: '-12h', limit: String(PAGE), ...(before === null ? {} : { before }) });
    const list = `${cluster.apis[0]?.appUrl ?? ''}/api/v1/tenants/${String(id)}/replay/sessions?${parameters.toString()}`;
    const answer = JSON.parse(await answerText(list, { headers: { Authorization: `Bearer ${key}` } })) as {
      readonly sessions: readonly (Readonly<Record<'events' | 'errors' | 'clicks', unknown>> & { readonly session_id: string })[];
      readonly has_more: boolean;
      readonly oldest_time: string | null;
    };
    for (const { session_id: session, events, errors, clicks } of answer.sessions)
      told.set(session, { events: Number(events), errors: Number(errors), clicks: Number(clicks) });
    before = answer.has_more ? answer.oldest_time : null;
  } while (before !== null);
  const different = differences(told, countSessions(rows));
  return different.length === 0
    ? []
    : [{ check: 'sessions whose row is not the count of their events', count: different.length, examples: different.slice(0, 20) }];
}

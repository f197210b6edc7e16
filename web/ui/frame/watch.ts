/** Alerts as they come, by one socket for all pages: it opens again by itself, from where it was. */
import { computed, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { request, type AnswerOf } from '../base/api.ts';
import { isLost } from '../base/connection.ts';
import { session, socketProtocols } from '../base/session.ts';
import { setBadge } from './badges.ts';

export type Alert = AnswerOf<'GET /alerts'>['items'][number];
type Frame = { readonly type: string; readonly alert: Alert };
type Take = (alert: Alert, type: string) => void;

const WAITS_MS = [500, 1000, 2000, 4000, 8000];
/** Tries after which the connection counts as lost: one that is begun anew at once is no news. */
const LOST_AFTER = 2;
/** What is counted for a badge; more is `99+`. */
const MOST_COUNTED = 100;

let tries = 0;

function setTries(many: number): void {
  tries = many;
  isLost.value = many >= LOST_AFTER;
}

/** Whether alerts come. */
export const isFollowing = signal(false);
/** Until when they came, milliseconds since the epoch; null: they never did. */
export const heardUntil = signal<number | null>(null);

const takers = new Set<Take>();
const firing = signal<ReadonlySet<number>>(new Set());

const short = (many: number): string => (many >= MOST_COUNTED ? '99+' : String(many));

function mark(): void {
  const many = firing.peek().size;
  setBadge('alerts', many === 0 ? null : { text: short(many), kind: 'error', title: `${short(many)} firing` });
}

/** What has come lately, by its id: lists that are requested then may not have it yet. */
const recent = new Map<number, Alert>();
const MOST_RECENT = 100;
export const recentAlerts = (): readonly Alert[] => [...recent.values()];

function heard(alert: Alert, type: string): void {
  recent.delete(alert.id);
  recent.set(alert.id, alert);
  for (const id of recent.keys()) if (recent.size > MOST_RECENT) recent.delete(id);
  const next = new Set(firing.peek());
  if (alert.state === 'firing') next.add(alert.id);
  else next.delete(alert.id);
  firing.value = next;
  mark();
  for (const take of takers) take(alert, type);
}

/** What fires now, and the patterns of the last day that are new. A badge is a hint: where it cannot be counted there is none. */
async function count(signal: AbortSignal): Promise<void> {
  const [alerts, patterns] = await Promise.allSettled([
    request('GET /alerts', { query: { state: 'firing', limit: MOST_COUNTED } }, signal),
    request('GET /patterns', { query: { sort: 'first_seen', since: '-24h', limit: MOST_COUNTED } }, signal),
  ]);
  if (signal.aborted) return;
  if (alerts.status === 'fulfilled') {
    firing.value = new Set(alerts.value.items.map(({ id }) => id));
    mark();
  }
  if (patterns.status === 'fulfilled') {
    const fresh = patterns.value.patterns.filter(({ is_new: isNew }) => isNew === true).length;
    setBadge('patterns', fresh === 0 ? null : { text: short(fresh), unit: 'new', kind: '', title: `${short(fresh)} new in 24 hours` });
  }
}

function follow(): () => void {
  let socket: WebSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let since = new Date().toISOString();
  const open = (): void => {
    const { key, known } = session.peek() ?? {};
    if (key === undefined || known === undefined) return;
    const place = `/ws/alerts/${String(known.tenant_id)}?updates=true&since=${encodeURIComponent(since)}`;
    socket = new WebSocket(location.origin.replace(/^http/, 'ws') + place, socketProtocols(key));
    socket.onopen = () => {
      setTries(0);
      isFollowing.value = true;
    };
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      const { alert, type = '' } = JSON.parse(data) as Partial<Frame>;
      if (alert === undefined) return;
      since = alert.last_updated_at;
      heard(alert, type);
    };
    socket.onclose = () => {
      if (isFollowing.peek()) heardUntil.value = Date.now();
      isFollowing.value = false;
      timer = setTimeout(open, WAITS_MS[Math.min(tries, WAITS_MS.length - 1)]);
      setTries(tries + 1);
    };
  };
  const again = (): void => {
    clearTimeout(timer);
    if (!isFollowing.peek() && socket?.readyState !== WebSocket.CONNECTING) open();
  };
  open();
  addEventListener('online', again);
  return () => {
    removeEventListener('online', again);
    clearTimeout(timer);
    if (socket === null) return;
    socket.onclose = null;
    socket.close();
  };
}

/** Follows as long as the one who is signed in is. */
export function useWatch(): void {
  const who = session.value?.known.key_id ?? null;
  useEffect(() => {
    if (who === null) return;
    const controller = new AbortController();
    void count(controller.signal);
    const end = follow();
    return () => {
      controller.abort();
      end();
      isFollowing.value = false;
      setTries(0);
      recent.clear();
    };
  }, [who]);
}

/** Is given alerts as they come, as long as a page is there. */
export function useAlertFeed(onAlert: Take): void {
  const take = useRef(onAlert);
  take.current = onAlert;
  useEffect(() => {
    const own: Take = (alert, type) => take.current(alert, type);
    takers.add(own);
    return () => void takers.delete(own);
  }, []);
}

/** How many alerts fire, for the title of the tab. */
export const firingCount = computed(() => firing.value.size);

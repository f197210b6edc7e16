/** Alerts and incidents: the list beside the alert that is open. */
import '../style/alerts.css';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { request, useRequest } from '../base/api.ts';
import { plural } from '../base/format.ts';
import { useCommands } from '../base/keys.ts';
import { hrefOf, navigate, route, setParams } from '../base/route.ts';
import { lacks } from '../base/session.ts';
import { Button, Select } from '../components/controls.tsx';
import { Busy, Empty, ErrorNote, Stale } from '../components/states.tsx';
import { heardUntil, isFollowing, recentAlerts, useAlertFeed } from '../frame/watch.ts';
import { AlertList } from './alert-list.tsx';
import { AlertView } from './alert-view.tsx';
import { grouped, merged, type Alert } from './evidence.ts';
import { Rules } from './rules.tsx';
import { Webhooks } from './webhooks.tsx';

const PAGE = 100;
const FILTERS = {
  state: [['', 'Now and today'], ['firing', 'Firing'], ['resolved', 'Resolved'], ['all', 'All']],
  severity: [['', 'Any severity'], ['critical', 'Critical'], ['warning', 'Warning'], ['info', 'Info']],
} as const; // prettier-ignore

const param = (name: string): string => route.value.params.get(name) ?? '';

async function load(offset: number, signal?: AbortSignal) {
  const given = (name: string): object => (param(name) === '' ? {} : { [name]: param(name) });
  const query = { ...given('state'), ...given('severity'), ...given('service'), ...given('detector_type'), limit: PAGE, offset };
  return request('GET /alerts', { query }, signal);
}

/** Whether an alert that came by the socket belongs to what is listed. */
function isWanted(alert: Alert): boolean {
  const [state, severity, detector] = [param('state'), param('severity'), param('detector_type')];
  if ((severity !== '' && alert.severity !== severity) || (detector !== '' && alert.detector_type !== detector)) return false;
  if (param('service') !== '' && !alert.stream.includes(param('service'))) return false;
  return state === '' || state === 'all' || alert.state === state;
}

function useAlerts() {
  const inputs = ['state', 'severity', 'service', 'detector_type'].map(param);
  const first = useRequest((signal) => load(0, signal), inputs);
  const [alerts, setAlerts] = useState<readonly Alert[]>([]);
  const [hasMore, setHasMore] = useState(false);
  const [moreError, setMoreError] = useState<Error | null>(null);
  useEffect(() => {
    if (first.value === null) return;
    const { items } = first.value;
    // what has come by the socket may not be stored yet
    setAlerts([
      ...recentAlerts()
        .filter((one) => isWanted(one) && !items.some(({ id }) => id === one.id))
        .toReversed(),
      ...items,
    ]);
    setHasMore(first.value.has_more);
  }, [first.value]);
  const change = (alert: Alert): void =>
    setAlerts((now) => (isWanted(alert) || now.some(({ id }) => id === alert.id) ? merged(now, alert) : now));
  const more = (): void => {
    setMoreError(null);
    load(alerts.length).then(
      ({ items, has_more: isMore }) => {
        setAlerts((now) => [...now, ...items.filter(({ id }) => !now.some((one) => one.id === id))]);
        setHasMore(isMore);
      },
      (error: unknown) => setMoreError(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return { first, alerts, hasMore, moreError, change, more };
}

function Filters({ onOpen }: { readonly onOpen: (what: 'rules' | 'webhooks') => void }): JSX.Element {
  const reason = lacks('read', 'tenant');
  return (
    <div class="row-of alert-filters">
      {(['state', 'severity'] as const).map((name) => (
        <Select
          key={name}
          label={name}
          value={param(name)}
          options={FILTERS[name]}
          onChange={(value) => setParams({ [name]: value }, { isReplaced: true })}
        />
      ))}
      <input
        class="input"
        aria-label="Service"
        placeholder="Service"
        value={param('service')}
        onChange={(event) => setParams({ service: event.currentTarget.value.trim() }, { isReplaced: true })}
      />
      <Button onClick={() => onOpen('rules')} reason={reason}>
        Rules
      </Button>
      <Button onClick={() => onOpen('webhooks')} reason={reason}>
        Webhooks
      </Button>
    </div>
  );
}

function Nothing(): JSX.Element {
  const isFiltered = ['state', 'severity', 'service', 'detector_type'].some((name) => param(name) !== '');
  return isFiltered ? (
    <Empty title="No alert is like this">
      <Button onClick={() => setParams({ state: 'all', severity: null, service: null, detector_type: null })}>Show all</Button>
    </Empty>
  ) : (
    <Empty title="All is as usual">
      <p>Detectors learn from what comes, and fire by themselves when something leaves its baseline; nothing has to be set up.</p>
      <Button onClick={() => setParams({ state: 'all' })}>Show earlier ones</Button>
    </Empty>
  );
}

/** Steps through the list by keys, in the order in which it is seen. */
function useSteps(alerts: readonly Alert[], current: number | null): void {
  const { firing, resolved } = grouped(alerts);
  const order = [...firing, ...resolved].flatMap(({ alerts: own }) => own.map(({ id }) => id));
  const step = (by: number): void => {
    const at = current === null ? (by > 0 ? -1 : 0) : order.indexOf(current);
    const next = order[Math.min(order.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    navigate(hrefOf(route.peek().tenant, 'alerts', route.peek().params, String(next)), { isReplaced: current !== null });
    document.querySelector(`[data-alert="${String(next)}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  const close = (): void => navigate(hrefOf(route.peek().tenant, 'alerts', route.peek().params));
  useCommands(
    [
      { keys: 'j', name: 'Next alert', section: 'Alerts', run: () => step(1) },
      { keys: 'k', name: 'Alert before', section: 'Alerts', run: () => step(-1) },
      { keys: 'Escape', name: 'Back to the list', section: 'Alerts', run: close },
    ],
    [order.join(), current],
  );
}

const latest = (at: number | null, until: number | null): number | null => (at === null ? null : Math.max(at, until ?? 0));

function SideHead({ firing, at }: { readonly firing: number; readonly at: number | null }): JSX.Element {
  const isLive = isFollowing.value;
  return (
    <header class="alerts-head">
      <h2 class="title grow">{firing === 0 ? 'Nothing fires' : `${String(firing)} firing`}</h2>
      <Stale at={at} />
      <span class="row-of cap" title={isLive ? 'Changes come by themselves' : 'Connecting again'}>
        <span class={isLive ? 'dot ok' : 'dot warn'} />
        {isLive ? 'live' : 'not connected'}
      </span>
    </header>
  );
}

function Side({
  list,
  current,
  onOpen,
}: {
  readonly list: ReturnType<typeof useAlerts>;
  readonly current: number | null;
  readonly onOpen: (what: 'rules' | 'webhooks') => void;
}): JSX.Element {
  const { first, alerts, hasMore, moreError, change, more } = list;
  const [news, setNews] = useState('');
  useAlertFeed((alert, type) => {
    change(alert);
    if (type === 'fired' || type === 'resolved') setNews(`${type}: ${alert.title}`);
  });
  return (
    <aside class="alerts-side" aria-label="Alerts">
      <SideHead firing={alerts.filter(({ state }) => state === 'firing').length} at={latest(first.at, heardUntil.value)} />
      <Filters onOpen={onOpen} />
      <Busy of={first} />
      {first.error === null ? null : <ErrorNote error={first.error} onAgain={first.again} />}
      {first.value !== null && alerts.length === 0 ? <Nothing /> : <AlertList alerts={alerts} current={current} />}
      {moreError === null ? null : <ErrorNote error={moreError} onAgain={more} />}
      {hasMore ? (
        <div class="more">
          <Button onClick={more}>Load older</Button>
        </div>
      ) : null}
      <p class="hidden" role="status">
        {news}
      </p>
    </aside>
  );
}

export default function Alerts(): JSX.Element {
  const list = useAlerts();
  const { alerts, change } = list;
  const [opened, setOpened] = useState<'rules' | 'webhooks' | null>(null);
  const detail = useRef<HTMLDivElement>(null);
  const { rest } = route.value;
  const current = /^\d{1,16}$/.test(rest) ? Number(rest) : null;
  useEffect(() => detail.current?.scrollTo(0, 0), [current]);
  useSteps(alerts, current);
  const { tenant, params } = route.value;
  return (
    <div class={current === null ? 'alerts' : 'alerts opened'}>
      <Side list={list} current={current} onOpen={setOpened} />
      <div class="alerts-detail" ref={detail}>
        {current === null ? (
          <Empty title={alerts.length === 0 ? 'No alert is open' : `${plural(alerts.length, 'alert')} in the list`}>
            <p>
              Choose one to see its chart, why it came, and its entries. <kbd>j</kbd> and <kbd>k</kbd> step through them.
            </p>
          </Empty>
        ) : (
          <>
            <a class="back" href={hrefOf(tenant, 'alerts', params)}>
              ‹ All alerts
            </a>
            <AlertView id={current} key={current} listed={alerts.find(({ id }) => id === current) ?? null} onChange={change} />
          </>
        )}
      </div>
      {opened === 'webhooks' ? <Webhooks onClose={() => setOpened(null)} /> : null}
      {opened === 'rules' ? <Rules onClose={() => setOpened(null)} /> : null}
    </div>
  );
}

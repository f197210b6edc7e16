/** The page of one alert: what, by how much, since when, why, and what can be done. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../base/action.ts';
import { request, useLater, useRequest, type AnswerOf, type Loaded } from '../base/api.ts';
import { count, duration } from '../base/format.ts';
import { useCommands } from '../base/keys.ts';
import { hrefOf, route } from '../base/route.ts';
import { lacks } from '../base/session.ts';
import { Button, Dialog, Field } from '../components/controls.tsx';
import { Time } from '../components/data.tsx';
import { Busy, Empty, ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { copy, toast } from '../components/toasts.tsx';
import { ApiError } from '../../client/client.ts';
import { readEvidence, type Alert, type Evidence } from './evidence.ts';
import { Course } from './course-view.tsx';
import { exploreHref, Figures, Others, Samples, Sessions, Traces, WhatChanged, Why } from './evidence-view.tsx';
import { RuleOf } from './rule-of.tsx';
import { Sensitivity } from './sensitivity.tsx';
import { Sentence } from './sentence.tsx';

const DAY_MS = 864e5;
const EARLIER = [
  [1, 'yesterday'],
  [7, 'a week ago'],
] as const;

async function totalOf(query: string, start: number, end: number, signal: AbortSignal): Promise<number> {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const answer: AnswerOf<'GET /hits'> = await request('GET /hits', { query: { query, start: iso(start), end: iso(end), step: '1d' } }, signal); // prettier-ignore
  return answer.hits.reduce((sum, { hits }) => sum + hits, 0);
}

/** The entries of the window, and as many minutes at the same time of earlier days. */
function Earlier({ link }: { readonly link: NonNullable<Evidence['link']> }): JSX.Element {
  const [start, end] = [Date.parse(link.start), Date.parse(link.end)];
  const { value, error, again } = useRequest(
    (signal) =>
      Promise.all(
        [0, ...EARLIER.map(([days]) => days)].map((days) => totalOf(link.query, start - days * DAY_MS, end - days * DAY_MS, signal)),
      ),
    [link.query, link.start, link.end],
  );
  if (error !== null) return <ErrorNote error={error} onAgain={again} />;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return (
    <p class="earlier">
      <b>{value === null ? '…' : count(value[0] ?? 0)}</b> entries in this window
      {EARLIER.map(([days, name], at) => (
        <span key={name}>
          {' · '}
          <a href={exploreHref({ query: link.query, start: iso(start - days * DAY_MS), end: iso(end - days * DAY_MS) })}>
            <b>{value === null ? '…' : count(value[at + 1] ?? 0)}</b> same time {name}
          </a>
        </span>
      ))}
    </p>
  );
}

function Resolve({
  alert,
  onClose,
  onDone,
}: {
  readonly alert: Alert;
  readonly onClose: () => void;
  readonly onDone: (alert: Alert) => void;
}): JSX.Element {
  const [note, setNote] = useState('');
  const resolve = useAction(
    (_given: void, signal) =>
      request('POST /alerts/{alert_id}/resolve', { path: { alert_id: alert.id }, body: note.trim() === '' ? {} : { note } }, signal),
    {
      onDone: (resolved) => {
        onDone(resolved);
        toast('Resolved');
        onClose();
      },
    },
  );
  return (
    <Dialog title="Resolve the alert" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          resolve.start();
        }}
      >
        <p class="muted">It fires again only once its series was back within what is usual.</p>
        <Field name="Note" note="Optional: what it was. It stays with the alert.">
          <textarea class="input" name="note" rows={3} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
        </Field>
        <Refusal of={resolve} />
        <div class="row-of">
          <Button kind="primary" type="submit">
            Resolve
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Pending of={resolve} />
        </div>
      </form>
    </Dialog>
  );
}

/** How long it fired so far, or in all. */
const lengthOf = ({ fired_at: from, resolved_at: to }: Alert): string =>
  duration(Math.max(0, (to === null ? Date.now() : Date.parse(to)) - Date.parse(from)));

function Head({
  alert,
  link,
  onResolve,
}: {
  readonly alert: Alert;
  readonly link: Evidence['link'];
  readonly onResolve: () => void;
}): JSX.Element {
  const reason = alert.state === 'resolved' ? 'It is resolved.' : lacks('write');
  const copyLink = (): void => void copy(location.origin + hrefOf(route.peek().tenant, 'alerts', {}, String(alert.id)), 'Link');
  useCommands(
    [
      { keys: 'r', name: 'Resolve the alert', section: 'Alerts', run: onResolve, reason },
      { keys: 'y', name: 'Copy a link to the alert', section: 'Alerts', run: copyLink },
    ],
    [alert.id, reason],
  );
  return (
    <header class="alert-head">
      <p class="row-of alert-kind">
        <span class={`badge ${severityKind(alert.severity)}`}>{alert.severity.toUpperCase()}</span>
        <span class="muted cut">
          {alert.detector_type} · <bdi class="mono">{alert.stream}</bdi>
        </span>
      </p>
      <h2 class="title alert-title">
        <Sentence text={alert.title} />
      </h2>
      <div class="alert-line">
        <p class="muted grow">
          <span class={alert.state === 'firing' ? 'state firing' : 'state resolved'}>{alert.state}</span> since{' '}
          <Time iso={alert.resolved_at ?? alert.fired_at} /> · {alert.state === 'firing' ? lengthOf(alert) : `fired for ${lengthOf(alert)}`}{' '}
          · fired {count(alert.fire_count)}×
        </p>
        <div class="row-of alert-actions">
          <Button onClick={copyLink}>Copy link</Button>
          {link === null ? null : (
            <a class="btn" href={exploreHref(link)}>
              Logs of this window
            </a>
          )}
          <Button kind="primary" onClick={onResolve} reason={reason} testId="resolve">
            Resolve… <kbd>r</kbd>
          </Button>
        </div>
      </div>
      {alert.resolution_note === null ? null : (
        <p class="note">
          <bdi>{alert.resolution_note}</bdi>
        </p>
      )}
    </header>
  );
}

/** Red is what is critical, amber what warns; others have no colour. */
const severityKind = (severity: string): string => (severity === 'critical' ? 'error' : severity === 'warning' ? 'warn' : '');

/** What came by the socket may be newer, but has nothing of why: its state is shown, with the evidence that was requested. */
function newestOf(requested: Alert | null, listed: Alert | null): Alert | null {
  if (requested === null || listed === null) return requested ?? listed;
  if (requested.last_updated_at >= listed.last_updated_at && requested.state === listed.state) return requested;
  const { state, resolved_at, resolution_note, fire_count } = listed;
  return { ...requested, state, resolved_at, resolution_note, fire_count };
}

/** Why an alert came may take a minute on a busy machine; these requests do not count for the rate of queries. */
const MOST_LOOKS = 30;

/** What the socket announced may not be stored yet, and why it came is found out some seconds after it fires. */
function isYetToCome(requested: Alert | null, listed: Alert | null, error: Error | null): boolean {
  if (requested === null) return listed !== null && error instanceof ApiError && error.status === 404;
  return requested.state === 'firing' && !Object.hasOwn(requested.evidence, 'why');
}

function NotYet({ of }: { readonly of: Loaded<Alert> }): JSX.Element {
  const { error, again } = of;
  if (error instanceof ApiError && error.status === 404)
    return (
      <Empty title="There is no such alert">
        <a href={hrefOf(route.value.tenant, 'alerts')}>All alerts</a>
      </Empty>
    );
  return error === null ? <Busy of={of} /> : <ErrorNote error={error} onAgain={again} />;
}

export function AlertView({
  id,
  listed,
  onChange,
}: {
  readonly id: number;
  readonly listed: Alert | null;
  readonly onChange: (alert: Alert) => void;
}): JSX.Element {
  const loaded = useRequest(
    (signal) => request('GET /alerts/{alert_id}', { path: { alert_id: id } }, signal),
    [id, listed?.last_updated_at, listed?.state],
  );
  const { value, error, again } = loaded;
  const isExpected = isYetToCome(value, listed, error);
  useLater(loaded, isExpected, MOST_LOOKS);
  const [isResolving, setResolving] = useState(false);
  useEffect(() => setResolving(false), [id]);
  const alert = newestOf(value?.id === id ? value : null, listed);
  if (alert === null) return <NotYet of={loaded} />;
  const evidence = readEvidence(alert.evidence);
  return (
    <article class="alert" aria-label="Alert">
      <Head alert={alert} link={evidence.link} onResolve={() => setResolving(true)} />
      {error === null || (isExpected && value === null) ? null : <ErrorNote error={error} onAgain={again} />}
      <Figures evidence={evidence} />
      <Course alert={alert} evidence={evidence} />
      <div class="panels">
        <Why alert={alert} evidence={evidence} />
        <WhatChanged evidence={evidence} />
      </div>
      {evidence.link === null ? null : <Earlier link={evidence.link} />}
      <Samples evidence={evidence} />
      {evidence.fingerprint === null ? null : (
        <p>
          <a href={hrefOf(route.value.tenant, 'patterns', {}, evidence.fingerprint)}>
            Its pattern: history, values, first and last example
          </a>
        </p>
      )}
      <Traces evidence={evidence} />
      <Sessions evidence={evidence} />
      <Others evidence={evidence} />
      {lacks('read', 'tenant') === null ? (
        <>
          <RuleOf ruleId={evidence.ruleId} />
          <Sensitivity detector={alert.detector_type} stream={alert.stream} fingerprint={evidence.fingerprint} />
        </>
      ) : null}
      {isResolving ? <Resolve alert={alert} onClose={() => setResolving(false)} onDone={onChange} /> : null}
    </article>
  );
}

/** The list of alerts: those of one incident together, those that fire first. */
import type { JSX } from 'preact';
import { plural } from '../base/format.ts';
import { hrefOf, route } from '../base/route.ts';
import { zone } from '../base/settings.ts';
import { shortMoment } from '../base/time.ts';
import { grouped, placeOf, type Alert, type Group } from './evidence.ts';
import { Sentence } from './sentence.tsx';

const clock = (iso: string): string => shortMoment(Math.floor(Date.parse(iso) / 6e4) * 6e4, zone.value, Date.now());

function Line({ alert, isCurrent, span }: { readonly alert: Alert; readonly isCurrent: boolean; readonly span: Span }): JSX.Element {
  const { tenant, params } = route.value;
  const [from, to] = [Date.parse(alert.fired_at), alert.resolved_at === null ? Date.now() : Date.parse(alert.resolved_at)];
  const place = (at: number): number => Math.min(100, Math.max(0, (100 * (at - span.start)) / Math.max(1, span.end - span.start)));
  const where = placeOf(alert.stream);
  return (
    <li>
      <a
        class={`alert-link ${alert.severity}`}
        href={hrefOf(tenant, 'alerts', params, String(alert.id))}
        aria-current={isCurrent ? 'true' : undefined}
        data-alert={alert.id}
      >
        <span class="grow alert-words">
          <span class={alert.state === 'firing' ? 'strong two-lines' : 'two-lines'}>
            <Sentence text={alert.title} />
          </span>
          <span class="cap cut">
            {clock(alert.fired_at)}
            {alert.resolved_at === null ? '' : ` – ${clock(alert.resolved_at)}`} · {alert.detector_type}
            {where === '' ? null : (
              <>
                {' · '}
                <bdi>{where}</bdi>
              </>
            )}
          </span>
          <span class="lane" aria-hidden="true">
            <i
              class={alert.state}
              style={{ left: `min(calc(100% - 4px), ${String(place(from))}%)`, width: `max(4px, ${String(place(to) - place(from))}%)` }}
            />
          </span>
        </span>
        <span class={`state ${alert.state}`}>
          <span class="hidden">{alert.severity}, </span>
          {alert.state}
        </span>
      </a>
    </li>
  );
}

type Span = { readonly start: number; readonly end: number };

/** Incidents stand on one time line: from the first that is shown until now. */
function spanOf(alerts: readonly Alert[]): Span {
  const end = Date.now();
  return { start: Math.min(end - 36e5, ...alerts.map(({ fired_at: at }) => Date.parse(at))), end };
}

function Groups({
  groups,
  current,
  span,
}: {
  readonly groups: readonly Group[];
  readonly current: number | null;
  readonly span: Span;
}): JSX.Element {
  return (
    <>
      {groups.map(({ incident, alerts }) => (
        <section
          key={alerts[0]?.id}
          class={alerts.length > 1 ? 'incident' : ''}
          aria-label={incident === null ? 'Alert' : `Incident ${String(incident)}`}
        >
          {alerts.length > 1 ? (
            <h3 class="cap">
              Incident · since {clock(alerts.reduce((first, { fired_at: at }) => (at < first ? at : first), alerts[0]?.fired_at ?? ''))} ·{' '}
              {plural(alerts.length, 'alert')}
            </h3>
          ) : null}
          <ul class="plain-list">
            {alerts.map((alert) => (
              <Line key={alert.id} alert={alert} isCurrent={alert.id === current} span={span} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

export function AlertList({ alerts, current }: { readonly alerts: readonly Alert[]; readonly current: number | null }): JSX.Element {
  const { firing, resolved } = grouped(alerts);
  const span = spanOf(alerts);
  return (
    <div class="alert-list">
      <Groups groups={firing} current={current} span={span} />
      {resolved.length === 0 ? null : <h2 class="cap list-part">Earlier</h2>}
      <Groups groups={resolved} current={current} span={span} />
      {alerts.length === 0 ? null : (
        <p class="cap lane-note">Bars: from {shortMoment(span.start, zone.value, span.end).slice(0, 11)} until now.</p>
      )}
    </div>
  );
}

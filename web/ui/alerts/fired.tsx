/** What would have fired in the last 24 hours, as a sentence and on a lane. */
import type { JSX } from 'preact';
import { count, plural } from '../base/format.ts';
import { zone } from '../base/settings.ts';
import { shortMoment } from '../base/time.ts';
import { figureText } from './evidence.ts';

export type Fired = {
  readonly fired_at: string;
  readonly resolved_at: string | null;
  readonly value: number | null;
};
type Window = { readonly start: string; readonly end: string };

/** When something would have fired: a bar each, at its place in the window. */
export function FiredLane({ fired, window }: { readonly fired: readonly Fired[]; readonly window: Window }): JSX.Element {
  const [start, end] = [Date.parse(window.start), Date.parse(window.end)];
  const place = (iso: string): number => Math.min(100, Math.max(0, (100 * (Date.parse(iso) - start)) / Math.max(1, end - start)));
  return (
    <div class="fired" aria-hidden="true">
      <div class="lane tall">
        {fired.map(({ fired_at: from, resolved_at: to }, at) => (
          <i
            key={at}
            class="firing"
            style={{
              left: `min(calc(100% - 3px), ${String(place(from))}%)`,
              width: `max(3px, ${String(place(to ?? window.end) - place(from))}%)`,
            }}
          />
        ))}
      </div>
      <div class="fired-ends cap">
        <span>{shortMoment(start, zone.value, end)}</span>
        <span>now</span>
      </div>
    </div>
  );
}

const MOST_LISTED = 5;

/** The first of them, each with its time and value. */
export function FiredList({ fired }: { readonly fired: readonly (Fired & { readonly of: string })[] }): JSX.Element | null {
  if (fired.length === 0) return null;
  const clock = (iso: string): string => shortMoment(Date.parse(iso), zone.value, Date.now());
  return (
    <ul class="plain-list fired-list">
      {fired.slice(0, MOST_LISTED).map(({ fired_at: from, resolved_at: to, value, of }, at) => (
        <li key={at}>
          <span class="num">
            {clock(from)} – {to === null ? 'now' : clock(to)}
          </span>
          <span class="mono cut grow" title={of}>
            <bdi>{of}</bdi>
          </span>
          <span class="num mono">{value === null ? '' : figureText(value)}</span>
        </li>
      ))}
      {fired.length > MOST_LISTED ? <li class="cap">{plural(fired.length - MOST_LISTED, 'more', 'more')}</li> : null}
    </ul>
  );
}

/** `3 alerts`, with the figure in bold. */
export function FiredCount({ fired }: { readonly fired: number }): JSX.Element {
  return (
    <>
      <b>{fired === 0 ? 'nothing' : count(fired)}</b>
      {fired === 0 ? '' : fired === 1 ? ' alert' : ' alerts'}
    </>
  );
}

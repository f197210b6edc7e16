/** What a panel shows when it has nothing, waits, or was refused: each panel on its own. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import { duration } from '../base/format.ts';
import { Button } from './controls.tsx';

/** A thin line that runs while something is loaded; it takes its room always, so that nothing jumps. */
export function BusyBar({ isBusy }: { readonly isBusy: boolean }): JSX.Element {
  return <div class={isBusy ? 'bar busy' : 'bar'} role={isBusy ? 'progressbar' : undefined} aria-label={isBusy ? 'Loading' : undefined} />;
}

/** Nothing there, and what can be done about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** What one may do about an error, in words. */
function adviceOf(error: Error): string {
  if (!(error instanceof ApiError)) return 'The service cannot be reached.';
  if (error.status === 429) return error.retryAfter === null ? 'Too many requests.' : `It may work in ${String(error.retryAfter)} s.`;
  if (error.status === 504) return 'It was stopped. A shorter window, or a filter on a stream, makes it quicker.';
  return '';
}

/** An error in its place: what it was, what may help, and the id by which operators find it. */
export function ErrorNote({
  error,
  onAgain,
  children,
}: {
  readonly error: Error;
  readonly onAgain?: () => void;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const isApi = error instanceof ApiError;
  return (
    <div class="note error" role="alert">
      <div class="grow stack" style={{ gap: '4px' }}>
        <p>{isApi ? error.message : adviceOf(error)}</p>
        {isApi && adviceOf(error) !== '' ? <p class="muted">{adviceOf(error)}</p> : null}
        {children}
        {isApi && error.requestId !== '' ? <p class="cap">request {error.requestId}</p> : null}
      </div>
      {onAgain === undefined ? null : (
        <Button isSmall onClick={onAgain}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** How long something has taken so far; nothing for the first half second. */
export function Elapsed({ since }: { readonly since: number }): JSX.Element | null {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 250);
    return () => clearInterval(timer);
  }, []);
  const ms = now - since;
  return ms < 500 ? null : <span class="faint">{duration(ms)}</span>;
}

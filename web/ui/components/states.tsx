/** What a panel shows when it has nothing, waits, or was refused: each panel on its own. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import { duration } from '../base/format.ts';
import { nextTry } from '../base/tries.ts';
import { Button } from './controls.tsx';
import { copy } from './toasts.tsx';

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
  if (error.status === 429 && error.retryAfter === null) return 'Too many requests.';
  if (error.status === 504) return 'It was stopped. A shorter window, or a filter on a stream, makes it quicker.';
  return '';
}

/** Counts down to the next try by itself; nothing where there is none. */
function NextTry({ error, onAgain }: { readonly error: Error; readonly onAgain: (() => void) | undefined }): JSX.Element | null {
  const tries = useRef(0);
  const [left, setLeft] = useState<number | null>(null);
  useEffect(() => {
    const seconds = error instanceof ApiError && onAgain !== undefined ? nextTry(error, tries.current) : null;
    setLeft(seconds);
    if (seconds === null) return;
    const at = performance.now() + seconds * 1000;
    const timer = setInterval(() => {
      const now = Math.ceil((at - performance.now()) / 1000);
      setLeft(Math.max(0, now));
      if (now > 0) return;
      clearInterval(timer);
      tries.current += 1;
      onAgain?.();
    }, 250);
    return () => clearInterval(timer);
  }, [error]);
  if (left !== null) return <p class="muted">It is tried again {left === 0 ? 'now' : `in ${String(left)} s`}.</p>;
  return error instanceof ApiError && error.retryAfter !== null ? <p class="muted">It may work in {error.retryAfter} s.</p> : null;
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
  const id = isApi ? error.requestId : '';
  return (
    <div class="note error">
      <div class="grow stack" style={{ gap: '4px' }}>
        <div class="stack" style={{ gap: '4px' }} role="alert">
          <p>{isApi ? error.message : adviceOf(error)}</p>
          {isApi && adviceOf(error) !== '' ? <p class="muted">{adviceOf(error)}</p> : null}
        </div>
        <NextTry error={error} onAgain={onAgain} />
        {children}
        {id === '' ? null : (
          <p class="cap row-of">
            request {id}
            <Button kind="plain" isSmall isIcon label="Copy the id of the request" onClick={() => void copy(id, 'Id')}>
              ⧉
            </Button>
          </p>
        )}
      </div>
      {onAgain === undefined ? null : (
        <Button isSmall onClick={onAgain}>
          Try again
        </Button>
      )}
    </div>
  );
}

const [SOON_MS, LONG_MS] = [500, 3000];

/** How long something has taken so far, and what stops it; nothing for the first half second. */
export function Elapsed({ since, onCancel }: { readonly since: number; readonly onCancel?: () => void }): JSX.Element | null {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 250);
    return () => clearInterval(timer);
  }, []);
  const ms = now - since;
  if (ms < SOON_MS) return null;
  return (
    <span class="row-of" data-test="elapsed">
      <span class="faint">{duration(ms)}</span>
      {ms < LONG_MS ? null : <span class="wide-only">A shorter window, or a filter, makes it quicker.</span>}
      {onCancel === undefined ? null : (
        <Button isSmall onClick={onCancel}>
          Cancel
        </Button>
      )}
    </span>
  );
}

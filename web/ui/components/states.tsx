/** What a panel shows when it has nothing, waits, or was refused: each panel on its own. */
import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import type { Action } from '../base/action.ts';
import { Stopped, type Loaded } from '../base/api.ts';
import { isCut } from '../base/connection.ts';
import { duration } from '../base/format.ts';
import { zone } from '../base/settings.ts';
import { momentOf } from '../base/time.ts';
import { nextTry } from '../base/tries.ts';
import { Button } from './controls.tsx';
import { copy } from './toasts.tsx';

/** A thin line that runs while something is loaded; it takes its room always, so that nothing jumps. */
export function BusyBar({ isBusy }: { readonly isBusy: boolean }): JSX.Element {
  return <div class={isBusy ? 'bar busy' : 'bar'} role={isBusy ? 'progressbar' : undefined} aria-label={isBusy ? 'Loading' : undefined} />;
}

/** The same of a request, with how long it has taken and what stops it, where that is long. */
export function Busy({
  of: { isBusy, since, cancel },
}: {
  readonly of: Pick<Loaded<unknown>, 'isBusy' | 'since' | 'cancel'>;
}): JSX.Element {
  return (
    <div class="busy-place">
      <BusyBar isBusy={isBusy} />
      {isBusy ? <Elapsed since={since} onCancel={cancel} /> : null}
    </div>
  );
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

/** What makes the questions of a page quicker. */
export type Way = { readonly name: string; readonly run: () => void };
/** The ways of the page, shown with each error that a question took too long. */
export const QuickerWays = createContext<readonly Way[]>([]);

function Quicker({ error }: { readonly error: Error }): JSX.Element | null {
  const ways = useContext(QuickerWays);
  if (!(error instanceof ApiError) || error.status !== 504 || ways.length === 0) return null;
  return (
    <div class="row-of" style={{ flexWrap: 'wrap' }} data-test="quicker">
      {ways.map(({ name, run }) => (
        <Button key={name} isSmall onClick={run}>
          {name}
        </Button>
      ))}
    </div>
  );
}

/** How old something is, while the service is not reached. */
export function Stale({ at }: { readonly at: number | null }): JSX.Element | null {
  const [now, setNow] = useState(Date.now());
  const isShown = isCut.value && at !== null;
  useEffect(() => {
    if (!isShown) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isShown]);
  if (!isShown) return null;
  return (
    <span class="badge warn" title={`As of ${momentOf(at, zone.value)}`} data-test="stale">
      {duration(Math.max(1000, now - at))} old
    </span>
  );
}

/** What one may do about an error, in words. */
function adviceOf(error: Error): string {
  if (error instanceof Stopped) return error.message;
  if (!(error instanceof ApiError)) return 'The service cannot be reached.';
  if (error.status === 429 && error.retryAfter === null) return 'Too many requests.';
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

/**
 * An error in its place: what it was, what may help, and the id by which operators find it. `byHand`: it is tried again by a press alone, as what
 * changes something is not the same when it is done twice.
 */
export function ErrorNote({
  error,
  onAgain,
  byHand,
  children,
}: {
  readonly error: Error;
  readonly onAgain?: () => void;
  readonly byHand?: true;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const isApi = error instanceof ApiError;
  // what is wrong itself is refused each time
  const canBeTried = onAgain !== undefined && !(isApi && error.status === 400);
  const id = isApi ? error.requestId : '';
  return (
    <div class="note error">
      <div class="grow stack" style={{ gap: '4px' }}>
        <div class="stack" style={{ gap: '4px' }} role="alert">
          <p>{isApi ? error.message : adviceOf(error)}</p>
          {isApi && adviceOf(error) !== '' ? <p class="muted">{adviceOf(error)}</p> : null}
        </div>
        <NextTry error={error} onAgain={byHand === true ? undefined : onAgain} />
        <Quicker error={error} />
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
      {canBeTried ? (
        <Button isSmall onClick={onAgain}>
          Try again
        </Button>
      ) : null}
    </div>
  );
}

/** Why an action was refused, with what does it once more. */
export function Refusal({ of: { error, again } }: { readonly of: Pick<Action, 'error' | 'again'> }): JSX.Element | null {
  return error === null ? null : <ErrorNote error={error} onAgain={again} byHand />;
}

/** How long an action takes, and what stops it; beside its button, so that nothing moves. */
export function Pending({
  of: { isBusy, since, cancel },
}: {
  readonly of: Pick<Action, 'isBusy' | 'since' | 'cancel'>;
}): JSX.Element | null {
  return isBusy ? <Elapsed since={since} onCancel={cancel} word="Stop waiting" /> : null;
}

const [SOON_MS, LONG_MS] = [500, 3000];

/** How long something has taken so far, and what stops it; nothing for the first half second. */
export function Elapsed({
  since,
  onCancel,
  word = 'Cancel',
}: {
  readonly since: number;
  readonly onCancel?: () => void;
  readonly word?: string;
}): JSX.Element | null {
  const [now, setNow] = useState(performance.now());
  const ways = useContext(QuickerWays);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 250);
    return () => clearInterval(timer);
  }, []);
  const ms = now - since;
  if (ms < SOON_MS) return null;
  return (
    <span class="row-of" data-test="elapsed">
      <span class="faint">{duration(ms)}</span>
      {ms < LONG_MS || ways.length === 0 ? null : <span class="wide-only">A shorter window, or a filter, makes it quicker.</span>}
      {onCancel === undefined ? null : (
        <Button isSmall onClick={onCancel}>
          {word}
        </Button>
      )}
    </span>
  );
}

/** The first steps: choose how to send, copy, and see the first entry come. */
import '../style/alerts.css';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import { useAction } from '../base/action.ts';
import { request, useRequest, type Loaded } from '../base/api.ts';
import { hrefOf, route } from '../base/route.ts';
import { takesNothing } from '../base/session.ts';
import { Button, Tabs } from '../components/controls.tsx';
import { ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { copy } from '../components/toasts.tsx';
import { textOf } from '../explore/entry.ts';
import { MessageLine } from '../explore/message.tsx';
import { Demo } from './demo.tsx';
import { cannotSend, makeKey, sendingKey } from './sending-key.ts';
import { masked, SNIPPETS, snippetOf } from './snippets.ts';

/** How often it is looked for, and where that was refused. */
const [EVERY_MS, REFUSED_MS] = [2000, 10_000];

/** How long until it is looked for again; null: it was refused in a way that no time changes. */
function waitOf(error: Error | null): number | null {
  if (error === null) return EVERY_MS;
  if (!(error instanceof ApiError)) return REFUSED_MS;
  const isBusy = error.status === 429 || error.status >= 500;
  return isBusy ? Math.max(REFUSED_MS, (error.retryAfter ?? 0) * 1000) : null;
}

/** The text of the newest entry since a moment, looked for until there is one. */
function useFirst(): Loaded<string | null> {
  const begun = useRef(Date.now());
  const loaded = useRequest(async (signal) => {
    const start = new Date(begun.current - 5 * 60_000).toISOString();
    const answer = await request('POST /search', { body: { query: '*', start, limit: 1 } }, signal);
    const [entry] = 'logs' in answer ? answer.logs : [];
    return entry === undefined ? null : textOf(entry, '_msg');
  }, []);
  const { value, error, isBusy, again } = loaded;
  useEffect(() => {
    const wait = value !== null || isBusy ? null : waitOf(error);
    if (wait === null) return;
    const timer = setTimeout(again, wait);
    return () => clearTimeout(timer);
  }, [value, error, isBusy]);
  return loaded;
}

function Step({
  number,
  title,
  isDone,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children: JSX.Element | (JSX.Element | null)[];
}): JSX.Element {
  return (
    <li class={isDone ? 'step done' : 'step'}>
      <span class="number" aria-hidden="true">
        {isDone ? '✓' : number}
      </span>
      <div class="stack" style={{ minWidth: 0 }}>
        <h2 class="title">{title}</h2>
        {children}
      </div>
    </li>
  );
}

/** Turns green by itself. */
function Listening({ first }: { readonly first: string | null }): JSX.Element {
  return (
    <div class={first === null ? 'listening' : 'listening heard'} role="status" data-test="listening">
      <span class={first === null ? 'dot' : 'dot ok'} />
      {first === null ? (
        <span>Listening… an entry shows here within a second or two.</span>
      ) : (
        <>
          <b>It is here.</b>
          <span class="mono cut grow">
            <MessageLine text={first} terms={[]} />
          </span>
          <a class="btn primary" href={hrefOf(route.value.tenant, 'explore', { from: '-15m' })}>
            Open it in Explore
          </a>
        </>
      )}
    </div>
  );
}

export default function Start(): JSX.Element {
  const [chosen, setChosen] = useState('curl');
  const { value: first, error, again } = useFirst();
  const key = sendingKey.value;
  const base = location.origin;
  const snippet = SNIPPETS.find(({ id }) => id === chosen) ?? SNIPPETS[0];
  const reason = cannotSend();
  const copying = useAction(async (_given: void, signal) => {
    const own = key ?? (await makeKey(signal));
    await copy(snippet === undefined ? '' : snippetOf(snippet, base, own), 'Snippet with your key');
  });
  return (
    <div class="page-pad stack" style={{ maxWidth: '760px', gap: '24px' }}>
      <div>
        <h2 class="title">Your first log, in three steps</h2>
        <p class="muted">Nothing has to be set up beforehand: fields, patterns and what is usual are learned from what comes.</p>
      </div>
      {reason === null ? null : (
        <p class="note warn">{`${reason}${takesNothing() === null ? ' Use one that may send in its place.' : ''}`}</p>
      )}
      <ol class="steps">
        <Step number={1} title="Choose how to send" isDone={first !== null}>
          <Tabs label="How to send" tabs={SNIPPETS} current={chosen} onChange={setChosen} />
          <p class="cap">
            <a href={hrefOf(route.value.tenant, 'ingest')}>All other ways</a>
          </p>
        </Step>
        <Step number={2} title="Copy it, and run it" isDone={first !== null}>
          <pre class="snippet mono" tabIndex={0} role="region" aria-label="What to run">
            {snippet === undefined ? '' : snippetOf(snippet, base, key === null ? 'YOUR_KEY' : masked(key))}
          </pre>
          <div class="row-of">
            <Button kind="primary" testId="copy-snippet" reason={reason} onClick={() => copying.start()}>
              {key === null ? 'Copy with a new key' : 'Copy with the key'}
            </Button>
            <Pending of={copying} />
            <span class="cap">
              {key === null
                ? 'A key that may only send, for a day, is made and copied with it.'
                : 'The key is hidden here; the copy has it.'}
            </span>
          </div>
          <Refusal of={copying} />
        </Step>
        <Step number={3} title="See it come" isDone={first !== null}>
          <Listening first={first} />
          {error === null ? null : (
            <ErrorNote error={error} onAgain={again} byHand>
              {waitOf(error) === null ? null : <p class="muted">It is looked for again by itself.</p>}
            </ErrorNote>
          )}
        </Step>
      </ol>
      <Demo />
    </div>
  );
}

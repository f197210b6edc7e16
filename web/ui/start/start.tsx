/** The first steps: choose how to send, copy, and see the first entry come. */
import '../style/alerts.css';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { request } from '../base/api.ts';
import { hrefOf, route } from '../base/route.ts';
import { Button, Tabs } from '../components/controls.tsx';
import { ErrorNote } from '../components/states.tsx';
import { copy } from '../components/toasts.tsx';
import { MessageLine } from '../explore/message.tsx';
import { Demo } from './demo.tsx';
import { cannotMake, makeKey, sendingKey } from './sending-key.ts';
import { masked, SNIPPETS, snippetOf } from './snippets.ts';

const EVERY_MS = 2000;
type First = { readonly time: string; readonly message: string; readonly took: number };

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The newest entry since a moment, looked for until there is one. */
function useFirst(): { readonly first: First | null; readonly error: Error | null } {
  const [first, setFirst] = useState<First | null>(null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const begun = Date.now();
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        const answer = await request(
          'POST /search',
          { body: { query: '*', start: new Date(begun - 5 * 60_000).toISOString(), limit: 1 } },
          controller.signal,
        );
        const [entry] = 'logs' in answer ? answer.logs : [];
        setError(null);
        if (entry !== undefined) {
          setFirst({ time: textOf(entry._time), message: textOf(entry._msg), took: Date.now() - begun });
          return;
        }
      } catch (thrown) {
        if (controller.signal.aborted) return;
        setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
      }
      timer = setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, []);
  return { first, error };
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
function Listening({ first }: { readonly first: First | null }): JSX.Element {
  return (
    <div class={first === null ? 'listening' : 'listening heard'} role="status" data-test="listening">
      <span class={first === null ? 'dot' : 'dot ok'} />
      {first === null ? (
        <span>Listening… an entry shows here within a second or two.</span>
      ) : (
        <>
          <b>It is here.</b>
          <span class="mono cut grow">
            <MessageLine text={first.message} terms={[]} />
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
  const { first, error } = useFirst();
  const [refused, setRefused] = useState<Error | null>(null);
  const key = sendingKey.value;
  const base = location.origin;
  const snippet = SNIPPETS.find(({ id }) => id === chosen) ?? SNIPPETS[0];
  const reason = key === null ? cannotMake() : null;
  const copied = async (): Promise<void> => {
    setRefused(null);
    try {
      const own = key ?? (await makeKey());
      await copy(snippet === undefined ? '' : snippetOf(snippet, base, own), 'Snippet with your key');
    } catch (thrown) {
      setRefused(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  };
  return (
    <div class="page-pad stack" style={{ maxWidth: '760px', gap: '24px' }}>
      <div>
        <h2 class="title">Your first log, in three steps</h2>
        <p class="muted">Nothing has to be set up beforehand: fields, patterns and what is usual are learned from what comes.</p>
      </div>
      {reason === null ? null : <p class="note warn">{reason} Use one that may send in its place.</p>}
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
            <Button kind="primary" testId="copy-snippet" reason={reason} onClick={() => void copied()}>
              {key === null ? 'Copy with a new key' : 'Copy with the key'}
            </Button>
            <span class="cap">
              {key === null
                ? 'A key that may only send, for a day, is made and copied with it.'
                : 'The key is hidden here; the copy has it.'}
            </span>
          </div>
          {refused === null ? null : <ErrorNote error={refused} />}
        </Step>
        <Step number={3} title="See it come" isDone={first !== null}>
          <Listening first={first} />
          {error === null ? null : <ErrorNote error={error} />}
        </Step>
      </ol>
      <Demo />
    </div>
  );
}

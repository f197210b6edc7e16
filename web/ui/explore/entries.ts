/** The entries of a query: pages of 1,000, up to 10,000; the next one is loaded as the list is scrolled to its end. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { request, useReturn, type AnswerOf } from '../base/api.ts';
import type { Span } from '../base/window.ts';
import type { Entry } from './entry.ts';
import { MOST_ROWS } from './live-buffer.ts';

const PAGE = 1000;

export type Entries = {
  readonly rows: readonly Entry[];
  readonly isBusy: boolean;
  readonly isFirst: boolean;
  readonly error: Error | null;
  readonly elapsedMs: number | null;
  readonly hasMore: boolean;
  readonly hints: readonly string[];
  readonly since: number;
  /** When these rows came, milliseconds since the epoch; null: there are none. */
  readonly at: number | null;
  /** Rows of pipes were cut. */
  readonly isCut: boolean;
  /** The query that these rows are of. */
  readonly of: string;
};

const NOTHING: Entries = { rows: [], isBusy: true, isFirst: true, error: null, elapsedMs: null, hasMore: false, hints: [], since: 0, at: null, isCut: false, of: '' }; // prettier-ignore

const DONE = { isBusy: false, isFirst: false };

const iso = (ms: number): string => new Date(ms).toISOString();

type Found = Extract<AnswerOf<'POST /search'>, { readonly logs: unknown }>;

/** What is shown once a page has come behind those before it. */
function loadedOf(answer: Found, old: readonly Entry[]): Omit<Entries, 'of'> {
  const rows = [...old, ...(answer.logs as readonly Entry[])].slice(0, MOST_ROWS);
  const { elapsed_ms: elapsedMs, hints = [], truncated: isCut = false } = answer;
  return { ...DONE, rows, error: null, elapsedMs, hasMore: answer.has_more && rows.length < MOST_ROWS, hints, since: 0, at: Date.now(), isCut }; // prettier-ignore
}

/** Rows of the window, and what loads more of them. While the first page comes, the rows before stay. */
export function useEntries(
  query: string,
  { start, end }: Span,
  round: number,
  isOff: boolean,
): Entries & { readonly more: () => void; readonly again: () => void; readonly cancel: () => void } {
  const [state, setState] = useState<Entries>(NOTHING);
  const [tries, setTries] = useState(0);
  const running = useRef<AbortController | null>(null);
  const oldest = useRef<string | null>(null);
  const lastOne = useRef('');

  const load = (before: string | null, old: readonly Entry[]): void => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    // an error stays until the same question has its answer, and no longer than the question
    const question = `${query} ${String(start)} ${String(end)} ${before ?? ''}`;
    const isAgain = question === lastOne.current;
    lastOne.current = question;
    setState((now) => ({ ...now, isBusy: true, isFirst: before === null, error: isAgain ? now.error : null, since: performance.now() }));
    const body = { query, start: iso(start), end: iso(end - 1), limit: PAGE, ...(before === null ? {} : { before }) };
    request('POST /search', { body }, controller.signal).then(
      (answer) => {
        if (controller.signal.aborted || !('logs' in answer)) return;
        oldest.current = answer.oldest_time;
        setState({ ...loadedOf(answer, old), of: query });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setState((now) => ({ ...now, ...DONE, error: error instanceof Error ? error : new Error(String(error)) }));
      },
    );
  };

  useEffect(() => {
    if (isOff) return;
    load(null, []);
    return () => running.current?.abort();
  }, [query, start, end, round, tries, isOff]);

  const again = (): void => setTries((count) => count + 1);
  useReturn(state.error, again);
  return {
    ...state,
    more: () => {
      if (!state.isBusy && state.hasMore && state.error === null && oldest.current !== null) load(oldest.current, state.rows);
    },
    again,
    cancel: () => {
      running.current?.abort();
      setState((now) => ({ ...now, ...DONE }));
    },
  };
}

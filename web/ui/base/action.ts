/** What a press does: saved, deleted, sent, made. It is done once, however often it is pressed, and never again by itself. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { asError, Stopped } from './api.ts';

/** What is shown of an action. */
export type Action<Given = void> = {
  readonly error: Error | null;
  readonly isBusy: boolean;
  /** When it began, `performance.now()`. */
  readonly since: number;
  /** Does it; nothing while it runs. */
  readonly start: (given: Given) => void;
  /** Once more, with what was given last. */
  readonly again: () => void;
  /** Waits for its answer no longer. */
  readonly cancel: () => void;
};

type State = Pick<Action, 'error' | 'isBusy' | 'since'>;
const AT_REST: State = { error: null, isBusy: false, since: 0 };
const STOPPED = 'Stopped before it was answered: it may have been done all the same.';

export type ActionOptions<T> = {
  /** Is given what it gave. */
  readonly onDone?: (value: T) => void;
  /** What is true once nobody waits for it. */
  readonly stopped?: string;
  /** It ends with what shows it; others go on, so that what was pressed is done. */
  readonly endsWithPage?: true;
};

export function useAction<Given = void, T = unknown>(
  run: (given: Given, signal: AbortSignal) => Promise<T>,
  { onDone = () => undefined, stopped = STOPPED, endsWithPage }: ActionOptions<T> = {},
): Action<Given> {
  const [state, setState] = useState<State>(AT_REST);
  const running = useRef<AbortController | null>(null);
  const last = useRef<readonly [Given] | null>(null);
  useEffect(() => () => {
    if (endsWithPage === true) running.current?.abort();
  }, []); // prettier-ignore
  const start = (given: Given): void => {
    if (running.current !== null) return;
    const controller = new AbortController();
    running.current = controller;
    last.current = [given];
    // why it was refused stays until the next answer
    setState(({ error }) => ({ error, isBusy: true, since: performance.now() }));
    const end = (error: Error | null): boolean => {
      if (running.current !== controller) return false;
      running.current = null;
      setState({ ...AT_REST, error });
      return true;
    };
    run(given, controller.signal).then(
      (value) => {
        if (end(null)) onDone(value);
      },
      (thrown: unknown) => end(asError(thrown)),
    );
  };
  return {
    ...state,
    start,
    again: () => {
      if (last.current !== null) start(...last.current);
    },
    cancel: () => {
      running.current?.abort();
      running.current = null;
      setState({ ...AT_REST, error: new Stopped(stopped) });
    },
  };
}

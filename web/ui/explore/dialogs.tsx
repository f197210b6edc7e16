/** Dialogs of Explore: an export, what ran where. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { request, useRequest } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import { Button, Dialog } from '../components/controls.tsx';
import { BusyBar, Empty, ErrorNote } from '../components/states.tsx';
import { copy, toast } from '../components/toasts.tsx';
import { download, exportAll, type Format, type Progress } from './export.ts';
import { round, sentQuery, span } from './state.ts';

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** All matching entries into a file. */
export function ExportDialog({ onClose, total }: { readonly onClose: () => void; readonly total: number | null }): JSX.Element {
  const [progress, setProgress] = useState<Progress | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const running = useRef<AbortController | null>(null);
  const start = (format: Format): void => {
    const controller = new AbortController();
    running.current = controller;
    setError(null);
    setProgress({ done: 0, waitSeconds: null });
    exportAll({ query: sentQuery.value, span: span.value, format, signal: controller.signal, onProgress: setProgress })
      .then((blob) => {
        download(blob, `logs-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${format}`);
        toast('The export is complete');
      })
      .catch((thrown: unknown) => {
        if (!controller.signal.aborted) setError(asError(thrown));
      })
      .finally(() => {
        running.current = null;
        setProgress(null);
      });
  };
  useEffect(() => () => running.current?.abort(), []);
  return (
    <Dialog title="Export all matching entries" onClose={onClose}>
      <div class="stack">
        <p class="muted">
          {total === null ? 'Everything in the window' : plural(total, 'entry', 'entries')} that the query matches, newest first, with every
          field.
        </p>
        {error === null ? null : <ErrorNote error={error} />}
        {progress === null ? (
          <div class="row-of">
            <Button kind="primary" onClick={() => start('ndjson')}>
              NDJSON
            </Button>
            <Button onClick={() => start('csv')}>CSV</Button>
          </div>
        ) : (
          <div class="row-of">
            <progress class="grow" max={total ?? undefined} value={total === null ? undefined : progress.done} aria-label="Exported" />
            <span role="status">
              {count(progress.done)}{' '}
              {progress.waitSeconds === null ? '' : `· the service is busy, waiting ${String(progress.waitSeconds)} s`}
            </span>
            <Button
              onClick={() => {
                running.current?.abort();
              }}
            >
              Cancel
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}

type Explained = {
  readonly query?: string;
  readonly plan?: {
    readonly statements?: readonly { readonly sql: string }[];
    readonly indexes?: readonly string[];
    readonly memory?: readonly string[];
  };
};

/** How the query runs: statements of the store, what narrows them down, and what runs in memory. */
export function ExplainDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { value, error, isBusy, again } = useRequest(
    async (signal): Promise<Explained | null> => {
      const body = { query: sentQuery.value, start: new Date(span.value.start).toISOString(), end: new Date(span.value.end).toISOString() };
      const answer = await request('POST /search', { query: { explain: true }, body }, signal);
      return 'explain' in answer ? answer.explain : null;
    },
    [sentQuery.value, round.value],
  );
  const plan = value?.plan;
  return (
    <Dialog title="What runs where" onClose={onClose} class="wide-dialog">
      <div class="stack">
        <BusyBar isBusy={isBusy} />
        {error === null ? null : <ErrorNote error={error} onAgain={again} />}
        {value === null ? null : (
          <>
            <p class="cap">Read as</p>
            <p class="mono">{value.query}</p>
            <p class="cap">Narrowed down by</p>
            <p>{plan?.indexes?.join(', ')}</p>
            <p class="cap">In memory, after the store</p>
            <p>{plan?.memory === undefined || plan.memory.length === 0 ? 'nothing' : plan.memory.join(', ')}</p>
            {plan?.statements?.map(({ sql }, at) => (
              <div key={at} class="stack" style={{ gap: '4px' }}>
                <div class="row-of">
                  <span class="cap grow">Statement {at + 1}</span>
                  <Button isSmall onClick={() => void copy(sql, 'Statement')}>
                    Copy
                  </Button>
                </div>
                <pre class="mono json" tabIndex={0}>
                  {sql}
                </pre>
              </div>
            ))}
          </>
        )}
        {value === null && !isBusy && error === null ? <Empty title="Nothing to explain" /> : null}
      </div>
    </Dialog>
  );
}

/** Dialogs of Explore: an export, what ran where. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../base/action.ts';
import { request, useRequest } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import { Button, Dialog } from '../components/controls.tsx';
import { BusyBar, Empty, ErrorNote, Refusal } from '../components/states.tsx';
import { copy, toast } from '../components/toasts.tsx';
import { download, Export, type Format, type Progress } from './export.ts';
import { round, sentQuery, span } from './state.ts';

/** How far an export is, and what ends it. */
function Exporting({
  progress,
  total,
  onCancel,
}: {
  readonly progress: Progress;
  readonly total: number | null;
  readonly onCancel: () => void;
}): JSX.Element {
  const { done, waitSeconds } = progress;
  return (
    <div class="row-of">
      <progress class="grow" max={total ?? undefined} value={total === null ? undefined : done} aria-label="Exported" />
      <span role="status">
        {count(done)} {waitSeconds === null ? '' : `· the service is busy, waiting ${String(waitSeconds)} s`}
      </span>
      <Button onClick={onCancel}>Cancel</Button>
    </div>
  );
}

/** All matching entries into a file. */
export function ExportDialog({ onClose, total }: { readonly onClose: () => void; readonly total: number | null }): JSX.Element {
  const [progress, setProgress] = useState<Progress>({ done: 0, waitSeconds: null });
  const action = useAction(async (wanted: Export, on) => download(await wanted.run(on, setProgress), wanted.name), {
    onDone: () => toast('The export is complete'),
    stopped: 'The export is stopped.',
    endsWithPage: true,
  });
  const { isBusy, error, start, cancel } = action;
  const begin = (format: Format): void => start(new Export({ query: sentQuery.value, span: span.value, format }));
  return (
    <Dialog title="Export all matching entries" onClose={onClose}>
      <div class="stack">
        <p class="muted">
          {total === null ? 'Everything in the window' : plural(total, 'entry', 'entries')} that the query matches, newest first, with every
          field.
        </p>
        <Refusal of={action} />
        {error === null || progress.done === 0 ? null : <p class="muted">{count(progress.done)} are there: it goes on from them.</p>}
        {isBusy ? (
          <Exporting {...{ progress, total }} onCancel={cancel} />
        ) : (
          <div class="row-of">
            <Button kind="primary" onClick={() => begin('ndjson')}>
              NDJSON
            </Button>
            <Button onClick={() => begin('csv')}>CSV</Button>
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

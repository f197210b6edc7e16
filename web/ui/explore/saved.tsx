/** Saved searches of the tenant, and earlier queries of this browser. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../base/action.ts';
import { request, useRequest, type AnswerOf } from '../base/api.ts';
import { setParams } from '../base/route.ts';
import { lacks } from '../base/session.ts';
import { Button, Dialog } from '../components/controls.tsx';
import { BusyBar, ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { toast } from '../components/toasts.tsx';
import {
  columns,
  ofThisBrowser,
  past,
  run,
  savedQueries,
  saveQueries,
  sentQuery,
  setWindow,
  timeWindow,
  type SavedQuery,
} from './state.ts';

type Saved = AnswerOf<'GET /saved-searches'>['items'][number];

/** Shows what was saved: query, window and columns. */
function show({ query, start, end, columns: own }: Pick<Saved, 'query' | 'start' | 'end' | 'columns'>): void {
  run(query);
  if (start !== null) setWindow({ from: start, to: end ?? 'now' });
  if (own.length > 0) setParams({ cols: own.join(',') }, { isReplaced: true });
}

function Line({ saved, onShow, onGone }: { readonly saved: Saved; readonly onShow: () => void; readonly onGone: () => void }): JSX.Element {
  const removal = useAction((_given: void, signal) => request('DELETE /saved-searches/{search_id}', { path: { search_id: saved.id } }, signal), { onDone: onGone }); // prettier-ignore
  return (
    <li>
      <div class="row-of">
        <button type="button" class="option grow" onClick={onShow}>
          <b class="cut"><bdi>{saved.name}</bdi></b> <span class="mono cut faint grow"><bdi>{saved.query}</bdi></span>
          {saved.shared ? <span class="badge">shared</span> : null}
        </button>
        <Pending of={removal} />
        <Button isSmall isIcon kind="plain" label={`Delete ${saved.name}`} reason={lacks('write') ?? (saved.is_own ? null : 'Another key has saved it.')} onClick={() => removal.start()}>
          ✕
        </Button>
      </div>
      <Refusal of={removal} />
    </li>
  ); // prettier-ignore
}

/** Those that an earlier release kept in this browser alone: shown, and moved to the tenant by a press. */
function OfThisBrowser({
  onMove,
  onClose,
}: {
  readonly onMove: (saved: SavedQuery) => void;
  readonly onClose: () => void;
}): JSX.Element | null {
  if (savedQueries.value.length === 0) return null;
  return (
    <>
      <h3 class="cap">Saved in this browser</h3>
      <ul class="plain-list">
        {savedQueries.value.map((saved) => (
          <li key={saved.name} class="row-of">
            <button type="button" class="option grow" onClick={() => { onClose(); show({ query: saved.query, start: saved.from, end: saved.to, columns: [] }); }}>
              <b class="cut">{saved.name}</b> <span class="mono cut faint grow">{saved.query}</span>
            </button>
            <Button isSmall reason={lacks('write')} onClick={() => onMove(saved)}>Save for the tenant</Button>
          </li>
        ))}
      </ul>
    </>
  ); // prettier-ignore
}

function Past({ onClose }: { readonly onClose: () => void }): JSX.Element | null {
  if (past.value.length === 0) return null;
  return (
    <>
      <h3 class="cap">Earlier queries of this browser</h3>
      <ul class="plain-list">
        {past.value.slice(0, 20).map((text) => (
          <li key={text}>
            <button
              type="button"
              class="option mono"
              onClick={() => {
                onClose();
                run(text);
              }}
            >
              <span class="cut">{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function SaveForm({ onSaved }: { readonly onSaved: () => void }): JSX.Element {
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(true);
  const reason = lacks('write');
  const save = useAction(
    (_given: void, signal) => {
      const { from, to } = timeWindow.value;
      const body = { name: name.trim(), query: sentQuery.value, start: from, end: to, columns: [...columns.value], shared: isShared };
      return request('POST /saved-searches', { body }, signal);
    },
    {
      onDone: () => {
        setName('');
        toast('The search is saved');
        onSaved();
      },
    },
  );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '' && reason === null) save.start();
      }}
    >
      <div class="row-of">
        <input
          class="input grow"
          aria-label="Name of this search"
          placeholder="Name of this search"
          maxLength={100}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
          autoFocus
        />
        <Button type="submit" kind="primary" reason={reason}>
          Save
        </Button>
        <Pending of={save} />
      </div>
      <label class="row-of">
        <input type="checkbox" checked={isShared} onChange={() => setShared(!isShared)} /> For all keys of the tenant
      </label>
      <Refusal of={save} />
    </form>
  );
}

export function SavedDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { value, error, isBusy, again } = useRequest(
    (signal) => request('GET /saved-searches', { query: { limit: 200, sort: 'name' } }, signal),
    [],
  );
  const move = useAction(
    async (saved: SavedQuery, signal) => {
      await request('POST /saved-searches', { body: ofThisBrowser(saved) }, signal);
      return saved;
    },
    {
      onDone: (saved) => {
        saveQueries(savedQueries.value.filter((one) => one !== saved));
        again();
      },
    },
  );
  return (
    <Dialog title="Saved and earlier searches" onClose={onClose}>
      <div class="stack">
        <SaveForm onSaved={again} />
        <BusyBar isBusy={isBusy} />
        {error === null ? null : <ErrorNote error={error} onAgain={again} />}
        <Refusal of={move} />
        <ul class="plain-list" data-test="saved">
          {value?.items.map((saved) => (
            <Line
              key={saved.id}
              saved={saved}
              onGone={again}
              onShow={() => {
                onClose();
                show(saved);
              }}
            />
          ))}
        </ul>
        {value !== null && value.items.length === 0 ? <p class="muted">No search is saved yet.</p> : null}
        <OfThisBrowser onMove={move.start} onClose={onClose} />
        <Past onClose={onClose} />
      </div>
    </Dialog>
  ); // prettier-ignore
}

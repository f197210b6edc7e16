/** Explore: a query and a window, what they give over time, by field, and entry by entry. */
import '../style/explore.css';
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { request, useRequest } from '../base/api.ts';
import { count, duration, plural } from '../base/format.ts';
import { setParams } from '../base/route.ts';
import { moved, zoomedOut } from '../base/window.ts';
import { useCommands, type Command } from '../base/keys.ts';
import { BusyBar, Elapsed, QuickerWays, Stale } from '../components/states.tsx';
import { copy } from '../components/toasts.tsx';
import type { Known } from '../editor/complete.ts';
import { hasPipes, split, termsOf } from '../editor/tokens.ts';
import { folded, type Folded } from './alike.ts';
import { ExplainDialog, ExportDialog } from './dialogs.tsx';
import { Drawer, jsonOf } from './drawer.tsx';
import { useEntries, type Entries } from './entries.ts';
import { FacetPanel } from './facets.tsx';
import { Histogram } from './histogram.tsx';
import { useLive } from './live.ts';
import { MOST_ROWS } from './live-buffer.ts';
import { LiveHead } from './live-head.tsx';
import { gapOf } from './gap.ts';
import { Hints, Nothing, Refused } from './nothing.tsx';
import { useOpened } from './opened.ts';
import { quickerWays } from './quicker.ts';
import { QueryBar, type Opened } from './query-bar.tsx';
import { areEntries } from './results.ts';
import { ResultView } from './result-view.tsx';
import { Rows } from './rows.tsx';
import { SavedDialog } from './saved.tsx';
import { idOf, type Entry } from './entry.ts';
import {
  cursor,
  frozenLink,
  isFolded,
  isLive,
  isWrapped,
  openRow,
  query,
  round,
  rowId,
  run,
  sentQuery,
  side,
  flipSide,
  loadedFrom,
  setWindow,
  span,
  timeWindow,
} from './state.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** How many there are, and how many of them are here. */
function Summary({
  entries,
  total,
}: {
  readonly entries: Entries & { readonly cancel: () => void };
  readonly total: number | null;
}): JSX.Element {
  const { rows, elapsedMs, isBusy, since, at, hasMore, cancel } = entries;
  if (isBusy && rows.length === 0) return <Elapsed since={since} onCancel={cancel} />;
  return (
    <span class="row-of muted" role="status" data-test="summary">
      {isBusy ? <Elapsed since={since} onCancel={cancel} /> : null}
      <Stale at={at} />
      <span>
        {total === null ? plural(rows.length, 'row') : plural(total, 'entry', 'entries')}
        {elapsedMs === null ? '' : ` · ${duration(elapsedMs)}`}
      </span>
      {hasMore || (total !== null && total > rows.length) ? <span class="faint">newest {count(rows.length)} loaded</span> : null}
    </span>
  );
}

/** Moves the cursor through what is listed, with the drawer following where it is open. Keys come faster than pages are drawn: nothing here waits for it. */
function moveCursor(rows: readonly Entry[], index: number): void {
  cursor.value = index;
  const entry = rows[index];
  if (rowId.peek() !== null && entry !== undefined) openRow(idOf(entry));
}

/** The entry that keys are about: the one that is open, or else the one at the cursor. */
function currentOf(rows: readonly Entry[], opened: Entry | null): Entry | undefined {
  const id = rowId.peek();
  if (id === null) return rows[cursor.peek()];
  return rows.find((entry) => idOf(entry) === id) ?? opened ?? undefined;
}

type Keys = {
  readonly rows: readonly Entry[];
  readonly opened: Entry | null;
  readonly onOpen: (what: Opened) => void;
  readonly onPause: () => void;
};

function commandsOf({ rows, opened, onOpen, onPause }: Keys): readonly Command[] {
  const section = 'Explore';
  const step = (by: number) => () => moveCursor(rows, Math.max(0, Math.min(rows.length - 1, cursor.peek() + by)));
  const now = (): number => Date.now();
  const onCurrent = (act: (entry: Entry) => void) => () => {
    const current = currentOf(rows, opened);
    if (current !== undefined) act(current);
  };
  const onTab = (name: string) => () => {
    const current = currentOf(rows, opened);
    if (current === undefined) return;
    openRow(idOf(current));
    setParams({ tab: name }, { isReplaced: true });
  };
  return [
    { section, keys: '/', name: 'Write the query', run: () => document.getElementById('query')?.focus() },
    {
      section,
      keys: 'Ctrl+ENTER',
      name: 'Run again',
      isEverywhere: true,
      run: () => run((document.getElementById('query') as HTMLTextAreaElement | null)?.value ?? query.peek()),
    },
    { section, keys: 't', name: 'Choose the window', run: () => onOpen('window') },
    { section, keys: '[', name: 'Earlier', run: () => setWindow(moved(timeWindow.peek(), -0.5, now())) },
    { section, keys: ']', name: 'Later', run: () => setWindow(moved(timeWindow.peek(), 0.5, now())) },
    { section, keys: '-', name: 'Twice as long', run: () => setWindow(zoomedOut(timeWindow.peek(), now())) },
    { section, keys: 'l', name: 'Live', run: () => setParams({ live: isLive.peek() ? null : '1', row: null }) },
    { section, keys: 'Space', name: 'Pause the tail', run: onPause },
    { section, keys: 'j', name: 'Next entry', run: step(1) },
    { section, keys: 'k', name: 'Entry before', run: step(-1) },
    { section, keys: 'Enter', name: 'Open the entry', run: onCurrent((entry) => openRow(idOf(entry))) },
    { section, keys: 'Escape', name: 'Close the entry', run: () => openRow(null) },
    { section, keys: 'c', name: 'What was around it', run: onTab('context') },
    { section, keys: 'p', name: 'Its pattern', run: onTab('pattern') },
    {
      section,
      keys: 'y',
      name: 'Copy a link that stays',
      run: () => {
        const current = currentOf(rows, opened);
        void copy(frozenLink(current === undefined ? null : idOf(current)), 'Link');
      },
    },
    { section, keys: 'Shift+Y', name: 'Copy the entry as JSON', run: onCurrent((entry) => void copy(jsonOf(entry), 'JSON')) },
    { section, keys: 'f', name: 'Fields at the side', run: flipSide },
    { section, keys: 'w', name: 'Wrap long lines', run: () => setParams({ wrap: isWrapped.peek() ? null : '1' }, { isReplaced: true }) },
    {
      section,
      keys: 'a',
      name: 'Fold neighbours that are alike',
      run: () => setParams({ fold: isFolded.peek() ? null : '1' }, { isReplaced: true }),
    },
    { section, keys: 's', name: 'Saved and earlier searches', run: () => onOpen('saved') },
    { section, keys: 'e', name: 'Export all', run: () => onOpen('export') },
    { section, keys: '', name: 'What runs where', run: () => onOpen('explain') },
  ];
}

/** What is below the bars: entries, rows of pipes, or why there is nothing. */
function Main({
  entries,
  live,
  shown,
  total,
  terms,
}: {
  readonly shown: Folded;
  readonly entries: ReturnType<typeof useEntries>;
  readonly live: ReturnType<typeof useLive> | null;
  readonly total: number | null;
  readonly terms: readonly string[];
}): JSX.Element {
  const open = (entry: Entry): void => openRow(idOf(entry));
  const { rows: listed, sizes } = shown;
  const common = { terms, sizes, rows: listed, cursor: cursor.value, opened: rowId.value, onCursor: (index: number) => moveCursor(listed, index), onOpen: open }; // prettier-ignore
  if (live !== null)
    return (
      <>
        {live.error === null ? null : <Refused error={live.error} onAgain={live.again} />}
        <Rows {...common} total={listed.length} />
      </>
    );
  const { rows, error, isBusy, isFirst } = entries;
  if (error !== null && rows.length === 0) return <Refused error={error} onAgain={entries.again} />;
  if (rows.length === 0)
    return isBusy ? (
      <div class="rows-skeleton">
        {Array.from({ length: 12 }, (_none, at) => (
          <div key={at} class="skeleton" />
        ))}
      </div>
    ) : (
      <Nothing hints={entries.hints} />
    );
  const footer = (
    <p class="rows-foot faint">
      {isBusy && !isFirst
        ? 'Loading older entries …'
        : entries.hasMore
          ? ''
          : rows.length >= 10_000
            ? 'The list ends at 10,000 entries: a narrower window shows the older ones, an export has all.'
            : 'All of the window is listed.'}
    </p>
  );
  return (
    <>
      {error === null ? null : <Refused error={error} onAgain={entries.again} />}
      <Hints hints={entries.hints} />
      {areEntries(rows) ? (
        <Rows {...common} total={sizes.size > 0 ? listed.length : (total ?? rows.length)} onEnd={entries.more} footer={footer} />
      ) : (
        <ResultView rows={rows} />
      )}
    </>
  );
}

/** Counts and facets are of the filter alone: pipes make other rows of the same entries. */
function useSurroundings() {
  const [filter] = split(sentQuery.value);
  const [of, again] = [span.value, round.value];
  const window = { query: filter === '' ? '*' : filter, start: iso(of.start), end: iso(of.end - 1) };
  const facets = useRequest(
    (signal) => request('GET /facets', { query: { ...window, limit: 30 } }, signal),
    [filter, of.start, of.end, again],
  );
  const total = useRequest(
    async (signal) => {
      const { hits } = await request('GET /hits', { query: { ...window, step: '1d' } }, signal);
      return hits.reduce((sum, one) => sum + one.hits, 0);
    },
    [filter, of.start, of.end, again],
  );
  const known: Known = useMemo(() => new Map(Object.entries((facets.value?.facets ?? {}) as Record<string, { value: string; hits: number }[]>)), [facets.value]); // prettier-ignore
  return { facets, total: total.value, known };
}

/** Which parts of the body are there. Where there is little room, the fields take the place of the list. */
const bodyClass = (hasDrawer: boolean): string =>
  ['explore-body', hasDrawer ? 'with-drawer' : '', side.value === 'off' ? 'no-side' : '', side.value === 'on' ? 'show-side' : '']
    .filter((one) => one !== '')
    .join(' ');

/** From when on entries are loaded, where there are older ones. */
function useLoadedFrom({ rows, hasMore }: Entries): void {
  const oldest = hasMore || rows.length >= MOST_ROWS ? rows.at(-1)?.['_time'] : undefined;
  useEffect(() => void (loadedFrom.value = typeof oldest === 'string' ? Date.parse(oldest) : null), [oldest]);
}

const NONE: ReadonlyMap<Entry, number> = new Map();

export default function Explore(): JSX.Element {
  const [opened, setOpened] = useState<Opened>(null);
  const [isPaused, setPaused] = useState(false);
  const { facets, total, known } = useSurroundings();
  const entries = useEntries(sentQuery.value, span.value, round.value, isLive.value);
  const live = useLive(sentQuery.value, isLive.value, isPaused);
  const all = isLive.value ? live.rows : entries.rows;
  const shown = useMemo(
    () => (isFolded.value ? folded(all, (row) => gapOf(row) !== null) : { rows: all, sizes: NONE }),
    [all, isFolded.value],
  );
  const { rows } = shown;
  useEffect(() => void (cursor.value = -1), [query.value, span.value.start]);
  useLoadedFrom(entries);
  const entry = useOpened(rows);
  const terms = useMemo(() => termsOf(query.value), [query.value]);
  const isRows = hasPipes(query.value) && !areEntries(entries.rows);
  useCommands(commandsOf({ rows, opened: entry, onOpen: setOpened, onPause: () => setPaused((paused) => !paused) }), [rows, entry]);
  const summary = isLive.value ? (
    <LiveHead live={live} isPaused={isPaused} onPause={setPaused} />
  ) : (
    <Summary entries={entries} total={isRows ? null : total} />
  );
  const ways = quickerWays(span.value, query.value);
  return (
    <div class="explore">
      <QuickerWays.Provider value={ways}>
        <QueryBar known={known} error={entries.error} opened={opened} onOpen={setOpened} summary={summary} />
        <BusyBar isBusy={entries.isBusy && !isLive.value} />
        {isLive.value ? null : <Histogram />}
      </QuickerWays.Provider>
      <div class={bodyClass(entry !== null)}>
        <QuickerWays.Provider value={ways}>
          <FacetPanel loaded={facets} />
          <div class="explore-rows">
            <Main {...{ entries, shown, total, terms }} live={isLive.value ? live : null} />
          </div>
        </QuickerWays.Provider>
        {entry === null ? null : <Drawer entry={entry} terms={terms} />}
      </div>
      {opened === 'export' ? <ExportDialog onClose={() => setOpened(null)} total={isRows ? null : total} /> : null}
      {opened === 'saved' ? <SavedDialog onClose={() => setOpened(null)} /> : null}
      {opened === 'explain' ? <ExplainDialog onClose={() => setOpened(null)} /> : null}
    </div>
  );
}

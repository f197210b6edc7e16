/** What Explore shows, read from the address and written to it. */
import { computed, signal } from '@preact/signals';
import type { Entry } from './entry.ts';
import { hrefOf, navigate, route, setParams } from '../base/route.ts';
import { fixed, spanOf, type Span, type TimeWindow } from '../base/window.ts';

const DEFAULT_FROM = '-1h';

export const query = computed(() => route.value.params.get('q') ?? '');
const from = computed(() => route.value.params.get('from') ?? DEFAULT_FROM);
const to = computed(() => route.value.params.get('to') ?? 'now');
/** Changes only where one of its ends does: what is shown of an entry is in the address too. */
export const timeWindow = computed<TimeWindow>(() => ({ from: from.value, to: to.value }));
const columnText = computed(() => route.value.params.get('cols'));
export const columns = computed<readonly string[]>(() => {
  const text = columnText.value;
  return text === null ? ['service'] : text.split(',').filter((name) => name !== '');
});
export const isFolded = computed(() => route.value.params.get('fold') === '1');
export const isWrapped = computed(() => route.value.params.get('wrap') === '1');
export const rowId = computed(() => route.value.params.get('row'));
export const tab = computed(() => route.value.params.get('tab') ?? 'fields');
export const isLive = computed(() => route.value.params.get('live') === '1');
export const isCompared = computed(() => route.value.params.get('compare') === '1');
export const view = computed(() => route.value.params.get('view') ?? 'chart');

/** The entry of the list that keys are about, by its place; -1: none. */
export const cursor = signal(-1);

/** The fields: as the width of the page has it, or as the reader has chosen. */
export const side = signal<'auto' | 'on' | 'off'>('auto');
const NARROW = 720;

export function flipSide(): void {
  const isThere = side.value === 'on' || (side.value === 'auto' && innerWidth > NARROW);
  side.value = isThere ? (innerWidth > NARROW ? 'off' : 'auto') : innerWidth > NARROW ? 'auto' : 'on';
}

/** Grows when the same question is put again: relative times have moved. */
export const round = signal(0);
/** The two times of the window as of the last question. */
export const span = computed<Span>(() => {
  void round.value;
  return spanOf(timeWindow.value, Date.now());
});
/** The times of the entries on screen, and of the oldest that is loaded where there are older ones: the bars show both. Milliseconds. */
export const onScreen = signal<Span | null>(null);
export const loadedFrom = signal<number | null>(null);

/** The filter as it is sent. */
export const sentQuery = computed(() => (query.value.trim() === '' ? '*' : query.value));

export function run(text: string): void {
  round.value += 1;
  remember(text);
  setParams({ q: text.trim() === '*' ? null : text.trim(), row: null });
}

export function setWindow(window: TimeWindow): void {
  round.value += 1;
  setParams({ from: window.from === DEFAULT_FROM && window.to === 'now' ? null : window.from, to: window.to === 'now' ? null : window.to, live: null, row: null }); // prettier-ignore
}

export const setColumns = (list: readonly string[]): void => setParams({ cols: list.join(',') === 'service' ? null : list.length === 0 ? ',' : list.join(',') }); // prettier-ignore

/** The address of what is seen now, for others: its window is fixed, the open row is in it. */
export function frozenLink(row: string | null = rowId.value): string {
  const { tenant, page, params } = route.peek();
  const next = new URLSearchParams(params);
  const ends = fixed(span.peek());
  next.set('from', ends.from);
  next.set('to', ends.to);
  next.delete('live');
  if (row !== null) next.set('row', row);
  return location.origin + hrefOf(tenant, page, next);
}

/** Opens a row, or closes it with null; the history does not grow with each row. */
export function openRow(id: string | null): void {
  const { tenant, page, rest, params } = route.peek();
  const next = new URLSearchParams(params);
  const isReplaced = next.has('row') && id !== null;
  if (id === null) next.delete('row');
  else next.set('row', id);
  navigate(hrefOf(tenant, page, next, rest), { isReplaced });
}

const HISTORY = 'logweir.queries';
const SAVED = 'logweir.saved';
const MOST_PAST = 50;

function storedList(at: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(at) ?? '[]');
    return Array.isArray(list) ? (list as unknown[]) : [];
  } catch {
    return [];
  }
}

/** Queries that were run in this browser, the latest first. */
export const past = signal<readonly string[]>(storedList(HISTORY).filter((one) => typeof one === 'string'));

function remember(text: string): void {
  if (text.trim() === '' || text.trim() === '*') return;
  past.value = [text, ...past.peek().filter((one) => one !== text)].slice(0, MOST_PAST);
  localStorage.setItem(HISTORY, JSON.stringify(past.peek()));
}

export type SavedQuery = { readonly name: string; readonly query: string; readonly from: string; readonly to: string };

const isSaved = (one: unknown): one is SavedQuery =>
  typeof one === 'object' && one !== null && ['name', 'query', 'from', 'to'].every((name) => typeof (one as Entry)[name] === 'string');

/** Searches with a name that an earlier release kept in this browser: they can be moved to the tenant. */
export const savedQueries = signal<readonly SavedQuery[]>(storedList(SAVED).filter(isSaved));

export function saveQueries(list: readonly SavedQuery[]): void {
  savedQueries.value = list;
  localStorage.setItem(SAVED, JSON.stringify(list));
}

/** One of this browser as the service takes it. */
export const ofThisBrowser = ({ name, query: text, from: start, to: end }: SavedQuery) => ({ name, query: text === '' ? '*' : text, start, end, columns: [], shared: false }); // prettier-ignore

/** The columns with one moved to the left (-1) or right (1), or to the place of another. */
export function movedColumn(list: readonly string[], name: string, to: number | string): readonly string[] {
  const at = list.indexOf(name);
  const place = typeof to === 'string' ? list.indexOf(to) : Math.max(0, Math.min(list.length - 1, at + to));
  if (at < 0 || place < 0) return list;
  const others = list.filter((one) => one !== name);
  return [...others.slice(0, place), name, ...others.slice(place)];
}

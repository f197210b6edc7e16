/** The entry that is open: of the list, or, where a link names one that is not in it, fetched on its own. */
import { useMemo } from 'preact/hooks';
import { request, useRequest } from '../base/api.ts';
import { idOf, type Entry } from './entry.ts';
import { rowId } from './state.ts';

const MOST = 1000;

async function fetched(id: string, signal: AbortSignal): Promise<Entry | null> {
  const [time = ''] = id.split('~');
  if (Number.isNaN(Date.parse(time))) return null;
  const answer = await request('POST /search', { body: { query: '*', start: time, end: time, limit: MOST } }, signal);
  return 'logs' in answer ? ((answer.logs as readonly Entry[]).find((entry) => idOf(entry) === id) ?? null) : null;
}

export function useOpened(rows: readonly Entry[]): Entry | null {
  const id = rowId.value;
  const listed = useMemo(() => (id === null ? null : (rows.find((entry) => idOf(entry) === id) ?? null)), [rows, id]);
  const isMissing = id !== null && listed === null;
  const { value } = useRequest(isMissing ? (signal) => fetched(id, signal) : null, [isMissing ? id : null]);
  return listed ?? (value !== null && idOf(value) === id ? value : null);
}

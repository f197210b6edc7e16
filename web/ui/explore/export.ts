/** All entries of a query as a file: pages of 10,000, with progress; it waits where the service asks to. */
import { ApiError, type Taken } from '../../client/client.ts';
import { request, type AnswerOf } from '../base/api.ts';
import type { Span } from '../base/window.ts';
import { csvColumns, csvHead, csvLines } from './csv.ts';
import type { Entry } from './entry.ts';

export type Format = 'ndjson' | 'csv';
export type Progress = { readonly done: number; readonly waitSeconds: number | null };

const PAGE = 10_000;
const iso = (ms: number): string => new Date(ms).toISOString();

type Wanted = {
  readonly query: string;
  readonly span: Span;
  readonly format: Format;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
};

/** Everything, as one file. The browser keeps what is large on its disk. */
export async function exportAll({ query, span, format, signal, onProgress }: Wanted): Promise<Blob> {
  const parts: Blob[] = [];
  let columns: readonly string[] | null = null;
  let [before, done]: [string | null, number] = [null, 0];
  for (;;) {
    const body: Taken<'POST /api/v1/tenants/{tenant_id}/search'>['body'] = {
      query,
      start: iso(span.start),
      end: iso(span.end - 1),
      limit: PAGE,
      ...(before === null ? {} : { before }),
    };
    const page: AnswerOf<'POST /search'> = await patiently(() => request('POST /search', { query: { enrich: false }, body }, signal), signal, (waitSeconds) => onProgress({ done, waitSeconds })); // prettier-ignore
    if (!('logs' in page)) throw new Error('BUG: an export was explained.');
    const rows = page.logs as readonly Entry[];
    if (format === 'csv' && columns === null) {
      columns = csvColumns(rows);
      parts.push(new Blob([csvHead(columns)]));
    }
    parts.push(new Blob([format === 'csv' ? csvLines(rows, columns ?? []) : rows.map((row) => `${JSON.stringify(row)}\n`).join('')]));
    done += rows.length;
    onProgress({ done, waitSeconds: null });
    if (!page.has_more || page.oldest_time === null) break;
    before = page.oldest_time;
  }
  return new Blob(parts, { type: format === 'csv' ? 'text/csv' : 'application/x-ndjson' });
}

/** Again where the service is busy, after as long as it asks for. */
async function patiently<T>(run: () => Promise<T>, signal: AbortSignal, onWait: (seconds: number) => void): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429) throw error;
      const seconds = Math.max(1, error.retryAfter ?? 1);
      onWait(seconds);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      signal.throwIfAborted();
    }
  }
}

/** Hands a file to the browser. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

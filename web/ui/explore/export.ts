/** All entries of a query as a file: pages of 10,000, with progress; it waits where the service asks to, and goes on where it was refused. */
import type { Taken } from '../../client/client.ts';
import { request, type AnswerOf } from '../base/api.ts';
import { patiently } from '../base/tries.ts';
import type { Span } from '../base/window.ts';
import { csvColumns, csvHead, csvLines } from './csv.ts';
import type { Entry } from './entry.ts';

export type Format = 'ndjson' | 'csv';
/** `waitSeconds`: as long as the service asks to wait; null: it does not. */
export type Progress = { readonly done: number; readonly waitSeconds: number | null };

const PAGE = 10_000;
const iso = (ms: number): string => new Date(ms).toISOString();

type Wanted = { readonly query: string; readonly span: Span; readonly format: Format };
type Body = Taken<'POST /api/v1/tenants/{tenant_id}/search'>['body'];

/** An export, as far as it is. The browser keeps what is large on its disk. */
export class Export {
  readonly #wanted: Wanted;
  readonly #parts: Blob[] = [];
  #columns: readonly string[] | null = null;
  #before: string | null = null;
  #done = 0;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** Its name as a file. */
  get name(): string {
    return `logs-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${this.#wanted.format}`;
  }

  /** Requests what is left; the whole as one file. Throws where a page is refused: the next call goes on with that page. */
  async run(on: AbortSignal, onProgress: (progress: Progress) => void): Promise<Blob> {
    const { query, span, format } = this.#wanted;
    const report = (waitSeconds: number | null): void => onProgress({ done: this.#done, waitSeconds });
    report(null);
    for (;;) {
      const body: Body = {
        ...{ query, start: iso(span.start), end: iso(span.end - 1), limit: PAGE },
        ...(this.#before === null ? {} : { before: this.#before }),
      };
      const page: AnswerOf<'POST /search'> = await patiently(() => request('POST /search', { query: { enrich: false }, body }, on), on, report); // prettier-ignore
      if (!('logs' in page)) throw new Error('BUG: an export was explained.');
      this.#add(page.logs);
      report(null);
      if (!page.has_more || page.oldest_time === null) break;
      this.#before = page.oldest_time;
    }
    return new Blob(this.#parts, { type: format === 'csv' ? 'text/csv' : 'application/x-ndjson' });
  }

  #add(rows: readonly Entry[]): void {
    this.#done += rows.length;
    if (this.#wanted.format === 'ndjson') {
      this.#parts.push(new Blob(rows.map((row) => `${JSON.stringify(row)}\n`)));
      return;
    }
    if (this.#columns === null) {
      this.#columns = csvColumns(rows);
      this.#parts.push(new Blob([csvHead(this.#columns)]));
    }
    this.#parts.push(new Blob([csvLines(rows, this.#columns)]));
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

import type { LogEntry } from '../../../pipeline/core/entry.ts';
import { invalidParameter } from '../../../pipeline/core/errors.ts';
import { MAX_TIME, MIN_TIME } from '../../../pipeline/core/time.ts';
import { ExactFilter, ExactPrefixFilter } from '../../../logsql/filters/exact.ts';
import { AndFilter, AnyFilter, NotFilter, OrFilter } from '../../../logsql/filters/logic.ts';
import { PhraseFilter, PrefixFilter } from '../../../logsql/filters/phrase.ts';
import { StreamFilter } from '../../../logsql/filters/stream.ts';
import { splitHead } from '../../../logsql/evaluation/head.ts';
import { QueryMemory } from '../../../logsql/base/memory.ts';
import { parseQuery } from '../../../logsql/parser/parser.ts';
import { Pipeline, hasValues } from '../../../logsql/evaluation/pipeline.ts';
import { sizeOfRow } from '../../../logsql/base/rows.ts';
import type { Filter, Pipe, QueryNode } from '../../../logsql/base/types.ts';
import { renderResult } from '../../query/render.ts';
import { renderTexts } from '../../select/lines.ts';
import { extraFilters } from '../../select/extra-filters.ts';
import type { LiveRecord } from './live-record.ts';
import { compileFilter, type GoesOn, type RowTest } from './row-test.ts';
import { withValues } from './subquery-values.ts';

/** A query as it is followed, with all that is needed to do that in another process. */
export type LiveQueryText = {
  readonly query: string;
  /** The arguments of VictoriaLogs' API with what every entry must match in addition. */
  readonly extra?: readonly [string, string][];
  /** The values of the queries inside its filters, in their order (`subquery-values.ts`). */
  readonly values: readonly (readonly string[])[];
  /** As VictoriaLogs shows entries: with `_stream_id`, and all values as strings. */
  readonly asTexts: boolean;
};

/** What one entry may hold on its way through pipes. */
const MEMORY = { maxRows: 10_000, maxBytes: 16_000_000 };

/** Reads a query that is to be followed. Throws LogsqlSyntaxError, and HttpError 400 that names a pipe which cannot pass rows on one by one. */
export function parseLive(text: string, now: bigint): QueryNode {
  const query = parseQuery(text, { now });
  const groups = query.pipes.find((pipe) => !pipe.liveTail);
  if (groups !== undefined)
    throw invalidParameter(
      `Live tail cannot run the pipe ${JSON.stringify(groups.toString().split(' ')[0])}: it needs to see all entries.`,
    );
  return query;
}

/** A query at work over records as they come. */
export class LiveQuery {
  /** It may take long with a single entry: regexps, and pipes. */
  readonly isHeavy: boolean;
  readonly #text: LiveQueryText;
  /** Its times count from now. */
  readonly #isRelative: boolean;
  readonly #memory = new QueryMemory(MEMORY);
  readonly #pipeline: Pipeline | null;
  #test: RowTest;
  #readAt: number;
  #rows: string[] = [];

  /** `now`: milliseconds. Throws as `parseLive` does. */
  constructor(text: LiveQueryText, now: number) {
    this.#text = text;
    const { filter, pipes } = this.#read(now);
    this.#readAt = now;
    this.#test = compileFilter(filter);
    this.#isRelative = filter.fields.includes('_time');
    this.isHeavy = pipes.length > 0 || !isLight(filter);
    this.#pipeline = pipes.length === 0 ? null : this.#through(pipes);
  }

  /** The rows that match, each with the rows that pipes make of it as JSON, one a line, as long as it goes on. Throws LogsqlLimitError. */
  *matches(record: LiveRecord, now: number, goesOn: GoesOn): Generator<readonly [row: number, text: string]> {
    if (this.#isRelative && now !== this.#readAt) {
      this.#test = compileFilter(this.#read(now).filter);
      this.#readAt = now;
    }
    for (const row of this.#test(record, goesOn)) {
      const text = this.#textOf(record, row);
      if (text !== '') yield [row, text];
    }
  }

  #textOf(record: LiveRecord, row: number): string {
    const { asTexts } = this.#text;
    if (this.#pipeline === null) return record.text(row, asTexts);
    this.#rows = [];
    try {
      this.#pipeline.push(record.entry(row, asTexts));
    } finally {
      this.#memory.clear();
    }
    return this.#rows.join('\n');
  }

  #read(now: number): { readonly filter: Filter; readonly pipes: readonly Pipe[] } {
    const { query, extra, values } = this.#text;
    const ns = BigInt(now) * 1_000_000n;
    const resolved = withValues(parseLive(query, ns), values);
    const also =
      extra === undefined ? null : extraFilters(new URLSearchParams(extra.map(([name, value]): [string, string] => [name, value])), ns);
    return splitHead(resolved, also ?? undefined);
  }

  #through(pipes: readonly Pipe[]): Pipeline {
    return new Pipeline(pipes, { memory: this.#memory, start: MIN_TIME, end: MAX_TIME }, (row: LogEntry) => {
      if (!hasValues(row)) return;
      this.#memory.hold('An entry of the tail', 1, sizeOfRow(row));
      this.#rows.push(this.#text.asTexts ? renderTexts(row) : renderResult(row));
    });
  }
}

const LIGHT = [AnyFilter, AndFilter, OrFilter, NotFilter, PhraseFilter, PrefixFilter, ExactFilter, ExactPrefixFilter] as const;

/** True for filters whose time is about that of reading the entry once. */
function isLight(filter: Filter): boolean {
  if (filter instanceof StreamFilter) return !filter.hasRegexp;
  return LIGHT.some((kind) => filter instanceof kind) && (filter.parts ?? []).every(isLight);
}

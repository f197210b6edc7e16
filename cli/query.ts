import { parseEntry, splitArray, splitObject } from './json-entry.ts';
import type { Taken } from '../web/client/client.ts';
import { bytesOf, findTarget, TARGET_FLAGS, TARGET_HELP, type Env } from './client.ts';
import { csvRow } from './csv.ts';
import { columnsOf, csvEntry } from './csv-entry.ts';
import { DISPLAY_FLAGS, DISPLAY_HELP, displayOf, type Display } from './display.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { renderExplained, type ExplainedQuery } from './explained.ts';
import { renderLine } from './lines.ts';
import { EXIT, outputOf, UsageError, type Piece, type Sink } from './output.ts';
import type { Zone } from './zone.ts';
import type { LogEntry } from '../pipeline/core/entry.ts';

/** What the help of a search says of its flags. */
export const FLAGS_HELP = `
  --start TIME    from when on: -15m, -7d, 2026-11-20T10:00 (default -1h)
  --end TIME      until when (default now)
  --limit N       most of them, the newest ones (default 1000; more than 10000 are read in pages)
  --newest-first  the newest first, each page as it is read
  --explain       print how the query would run, and run nothing
${DISPLAY_HELP}${TARGET_HELP}
Exit codes: 0 done, 1 the service cannot be reached or failed, 2 wrong command line or query, 3 key refused.
`;

/** The most that one answer of `/search` holds. */
const PAGE = 10_000;
/** Rows that are written at once. */
const BATCH = 1000;

/** What a command searches: its operation, the member of answers that lists what was found, and how one of them is a line. */
export type Searched = {
  readonly help: string;
  readonly operation: 'POST /api/v1/tenants/{tenant_id}/search' | 'POST /api/v1/tenants/{tenant_id}/spans/search';
  readonly member: string;
  line(entry: LogEntry, zone: Zone): readonly Piece[];
};

const LOGS: Searched = {
  help: `Usage: logweir query '<LogsQL>' [flags]\nPrints what the query finds, oldest first: coloured lines on a terminal; NDJSON in a pipe.\n${FLAGS_HELP}`,
  ...{ operation: 'POST /api/v1/tenants/{tenant_id}/search', member: 'logs' },
  line: renderLine,
};

/** `logweir query`: one search, page by page. */
export const queryCommand = (argv: readonly string[], env: Env, to: Sink): Promise<number> => searchCommand(LOGS, argv, env, to);

type Window = { readonly start: string; readonly end: string };
type Page = {
  readonly logs: readonly string[];
  readonly hasMore: boolean;
  readonly isTruncated: boolean;
  /** Null where these are rows of pipes, which have an order of their own. */
  readonly oldestTime: string | null;
  /** Hints at what a query that found nothing may have been meant to do. */
  readonly hints: readonly string[];
  /** What was searched. */
  readonly window: Window;
};
type Search = { readonly query: string; readonly window: Window; readonly limit: number };
/** What is known behind the last page. */
type Found = { readonly count: number; readonly isCut: boolean; readonly hints: readonly string[]; readonly window: Window };

/** One search, page by page. */
export async function searchCommand(searched: Searched, argv: readonly string[], env: Env, to: Sink): Promise<number> {
  if (wantsHelp(argv)) {
    outputOf(to, env).out(searched.help);
    return EXIT.ok;
  }
  const flags = [...TARGET_FLAGS, ...DISPLAY_FLAGS, 'start', 'end', 'limit'] as const;
  const names = { values: flags, switches: ['explain', 'newest-first'], positionals: true } as const;
  const { values, switches, positionals } = readFlags(argv, names, searched.help);
  const [query] = positionals;
  if (query === undefined || positionals.length > 1) throw new UsageError(`A query is one argument; put it in quotes.\n${searched.help}`);
  const limit = /^\d{1,15}$/.test(values.limit ?? '1000') ? Number(values.limit ?? 1000) : 0;
  if (limit < 1) throw new UsageError('--limit is an integer of at least 1.');
  const display = displayOf(values, env, to);
  const { output, zone } = display;
  const target = { ...findTarget(values, env), searched };
  const window: Window = { start: zone.read(values.start ?? '-1h', 'start'), end: zone.read(values.end ?? 'now', 'end') };
  if (switches.has('explain')) {
    output.out(await explain(target, { query, ...window, limit: Math.min(PAGE, limit) }));
    return EXIT.ok;
  }
  const found = await print(target, { query, window, limit }, display, switches.has('newest-first'));
  if (found.count === 0)
    output.err([`Nothing matches from ${zone.show(found.window.start)} to ${zone.show(found.window.end)}.`, ...found.hints, ''].join('\n'));
  else if (found.isCut) output.err(`There is more than these ${String(found.count)}; --limit gives more of it.\n`);
  return EXIT.ok;
}

/** Reads page after page, and prints them: newest first one by one, oldest first behind the last one, which has the oldest. */
async function print(target: Target, search: Search, display: Display, isNewestFirst: boolean): Promise<Found> {
  const kept: string[] = [];
  // the columns of CSV are known behind the last row
  const isKept = !isNewestFirst || display.format === 'csv';
  let [count, before, isPaged]: [number, string | null, boolean] = [0, null, false];
  let page: Page;
  let { window } = search;
  do {
    // all pages are of the window that the first one had: "now" would move on
    page = await readPage(target, { query: search.query, ...window, limit: Math.min(PAGE, search.limit - count), before });
    window = page.window;
    count += page.logs.length;
    isPaged ||= page.oldestTime !== null;
    if (isKept) for (const log of page.logs) kept.push(log);
    else await write(page.logs, display, target.searched);
    before = page.hasMore ? page.oldestTime : null;
  } while (before !== null && count < search.limit);
  if (isPaged && !isNewestFirst) kept.reverse();
  if (isKept && count > 0) await write(kept, display, target.searched);
  return { count, isCut: page.hasMore || page.isTruncated, hints: page.hints, window };
}

type SearchBody = NonNullable<Taken<'POST /api/v1/tenants/{tenant_id}/search'>['body']>;
type Target = ReturnType<typeof findTarget> & { readonly searched: Searched };

async function readPage(target: Target, body: SearchBody): Promise<Page> {
  const members = splitObject(await bytesOf(target, target.searched.operation, { body }));
  return {
    logs: splitArray(Buffer.from(members.get(target.searched.member) ?? '[]')),
    hasMore: members.get('has_more') === 'true',
    hints: JSON.parse(members.get('hints') ?? '[]') as string[],
    isTruncated: members.get('truncated') === 'true',
    window: JSON.parse(members.get('window') ?? '{}') as Window,
    oldestTime: JSON.parse(members.get('oldest_time') ?? 'null') as string | null,
  };
}

/** The plan of a query as text. */
async function explain(target: Target, body: SearchBody): Promise<string> {
  const { explain: explained } = JSON.parse(
    (await bytesOf(target, target.searched.operation, { query: { explain: true }, body })).toString(),
  ) as { readonly explain: ExplainedQuery };
  return renderExplained(explained);
}

async function write(logs: readonly string[], { output, format, zone }: Display, { line }: Searched): Promise<void> {
  const columns = format === 'csv' ? columnsOf(logs) : [];
  if (format === 'csv') output.data(csvRow(columns));
  for (let at = 0; at < logs.length; at += BATCH) {
    const batch = logs.slice(at, at + BATCH);
    if (format === 'ndjson') output.data(`${batch.join('\n')}\n`);
    else if (format === 'csv') output.data(batch.map((log) => csvEntry(parseEntry(log), columns, zone)).join(''));
    else for (const log of batch) output.out([...line(parseEntry(log), zone), '\n']);
    await output.drained();
  }
}

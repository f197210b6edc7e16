import { parseEntry, splitArray, splitObject } from './json-entry.ts';
import { findTarget, request, TARGET_FLAGS, TARGET_HELP, type Env } from './client.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { renderExplained, type ExplainedQuery } from './explained.ts';
import { renderLine } from './lines.ts';
import { EXIT, UsageError, type Output } from './output.ts';

const HELP = `Usage: logweir query '<LogsQL>' [flags]
Prints what the query finds: coloured lines, oldest first, on a terminal; NDJSON in a pipe.

  --start TIME    from when on: -15m, -7d, 2026-11-20T10:00:00Z (default -1h)
  --end TIME      until when (default now)
  --limit N       most entries, the newest ones (default 1000; more than 10000 are read in pages)
  --format F      lines or ndjson
  --explain       print how the query would run, and run nothing
${TARGET_HELP}
Exit codes: 0 done, 1 the service cannot be reached or failed, 2 wrong command line or query, 3 key refused.
`;

/** The most that one answer of `/search` holds. */
const PAGE = 10_000;

type Window = { readonly start: string; readonly end: string };
type Page = {
  readonly logs: readonly string[];
  readonly hasMore: boolean;
  readonly isTruncated: boolean;
  readonly oldestTime: string | null;
  /** Hints at what a query that found nothing may have been meant to do. */
  readonly hints: readonly string[];
  /** What was searched. */
  readonly window: Window;
};

/** `logweir query`: one search, page by page. */
export async function queryCommand(argv: readonly string[], env: Env, output: Output): Promise<number> {
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const names = { values: [...TARGET_FLAGS, 'start', 'end', 'limit', 'format'], switches: ['explain'], positionals: true } as const;
  const { values, switches, positionals } = readFlags(argv, names, HELP);
  const [query] = positionals;
  if (query === undefined || positionals.length > 1) throw new UsageError(`A query is one argument; put it in quotes.\n${HELP}`);
  const limit = /^\d{1,15}$/.test(values.limit ?? '1000') ? Number(values.limit ?? 1000) : 0;
  if (limit < 1) throw new UsageError('--limit is an integer of at least 1.');
  if (values.format !== undefined && !['lines', 'ndjson'].includes(values.format)) throw new UsageError('--format is lines or ndjson.');
  const lines = values.format === undefined ? output.isTerminal : values.format === 'lines';
  const target = findTarget(values, env);
  // all pages are of the window that the first one had: "now" would move on
  let window: Window = { start: values.start ?? '-1h', end: values.end ?? 'now' };
  if (switches.has('explain')) {
    output.out(await explain(target, { query, ...window, limit: Math.min(PAGE, limit) }));
    return EXIT.ok;
  }
  const found: string[] = [];
  let before: string | null = null;
  let isCut: boolean;
  let hints: readonly string[];
  do {
    const page: Page = await search(target, { query, ...window, limit: Math.min(PAGE, limit - found.length), before });
    window = page.window;
    isCut = page.hasMore || page.isTruncated;
    hints = page.hints;
    if (lines) found.push(...page.logs);
    else for (const log of page.logs) output.out(`${log}\n`);
    if (!lines) found.length += page.logs.length;
    before = page.hasMore ? page.oldestTime : null;
  } while (before !== null && found.length < limit);
  if (lines) printLines(found, output);
  if (found.length === 0) output.err([`Nothing matches from ${window.start} to ${window.end}.`, ...hints, ''].join('\n'));
  else if (isCut) output.err(`There is more than these ${String(found.length)}; --limit gives more of it.\n`);
  return EXIT.ok;
}

type Target = ReturnType<typeof findTarget>;

const post = (target: Target, parameters: string, body: Readonly<Record<string, unknown>>): Promise<Buffer> =>
  request(`${target.appUrl}/api/v1/tenants/${target.tenantId}/search${parameters}`, target.key, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

async function search(target: Target, body: Readonly<Record<string, unknown>>): Promise<Page> {
  const members = splitObject(await post(target, '', body));
  return {
    logs: splitArray(Buffer.from(members.get('logs') ?? '[]')),
    hasMore: members.get('has_more') === 'true',
    hints: JSON.parse(members.get('hints') ?? '[]') as string[],
    isTruncated: members.get('truncated') === 'true',
    window: JSON.parse(members.get('window') ?? '{}') as Window,
    oldestTime: JSON.parse(members.get('oldest_time') ?? 'null') as string | null,
  };
}

/** The plan of a query as text. */
async function explain(target: Target, body: Readonly<Record<string, unknown>>): Promise<string> {
  const { explain: explained } = JSON.parse((await post(target, '?explain=true', body)).toString()) as { readonly explain: ExplainedQuery };
  return renderExplained(explained);
}

/** Newest first is how they come; people read logs downwards. Rows of a pipe keep their order. */
function printLines(logs: readonly string[], output: Output): void {
  const entries = logs.map((log) => parseEntry(log));
  const isEntries = entries.every((entry) => entry.has('_time') && entry.has('_stream'));
  for (const entry of isEntries ? entries.reverse() : entries) output.out(`${renderLine(entry)}\n`);
}

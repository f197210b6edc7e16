import { styleText } from 'node:util';
import { findTarget, request, TARGET_FLAGS, TARGET_HELP, type Env, type Target } from './client.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { EXIT, printable, type Output } from './output.ts';

const HELP = `Usage: logweir patterns [flags]
Prints the patterns of messages, those with most entries first.

  --since TIME     entries since then (default: -24h)
  --search TEXT    those whose template has this text, case-insensitive
  --service NAME   entries of this service
  --sort S         count, first_seen or last_seen (default: count)
  --limit N        at most N, 1 to 2000 (default: 20)
  --diff           which patterns are new, gone and changed between two windows
  --a W, --b W     the windows of --diff, as in -2h..-1h (default: -2h..-1h and -1h..now)
  --format F       lines or ndjson (default: lines on a terminal)
${TARGET_HELP}
Exit codes: 0 done, 1 the service cannot be reached, 2 wrong command line, 3 key refused.
`;

/** What of a pattern is printed. */
type Pattern = Readonly<Record<'fingerprint' | 'normalized_message' | 'first_seen' | 'last_seen' | 'level', string>> & {
  readonly count: number;
  readonly trend: readonly number[];
  readonly is_new: boolean;
};
type Changed = Readonly<Record<'fingerprint' | 'normalized_message', string>> & Readonly<Record<'a' | 'b' | 'expected', number>>;
type Diff = Readonly<Record<'new' | 'gone' | 'changed', readonly Changed[]>>;

const DIFF_FLAGS = ['a', 'b'] as const;
const LIST_FLAGS = ['since', 'search', 'sort'] as const;
const SHARED_FLAGS = ['service', 'limit'] as const;
const DEFAULT_LIMIT = '20';

/** `logweir patterns`: the patterns of a tenant, or how they differ between two windows. */
export async function patternsCommand(argv: readonly string[], env: Env, output: Output): Promise<number> {
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const names = { values: [...TARGET_FLAGS, ...LIST_FLAGS, ...SHARED_FLAGS, ...DIFF_FLAGS, 'format'], switches: ['diff'] } as const;
  const { values, switches } = readFlags(argv, names, HELP);
  const isDiff = switches.has('diff');
  const parameters = new URLSearchParams({ limit: DEFAULT_LIMIT });
  for (const name of [...SHARED_FLAGS, ...(isDiff ? DIFF_FLAGS : LIST_FLAGS)]) {
    const value = values[name];
    if (value !== undefined) parameters.set(name, value);
  }
  const answer = await query(findTarget(values, env), isDiff ? '/diff' : '', parameters);
  const asLines = values.format === undefined ? output.isTerminal : values.format === 'lines';
  if (isDiff) printDiff(answer as Diff, asLines, output);
  else
    for (const pattern of (answer as { patterns: Pattern[] }).patterns)
      output.out(`${asLines ? patternLine(pattern) : JSON.stringify(pattern)}\n`);
  return EXIT.ok;
}

async function query({ appUrl, tenantId, key }: Target, path: string, parameters: URLSearchParams): Promise<unknown> {
  const body = await request(`${appUrl}/api/v1/tenants/${tenantId}/patterns${path}?${parameters.toString()}`, key);
  return JSON.parse(body.toString()) as unknown;
}

function printDiff(diff: Diff, asLines: boolean, output: Output): void {
  for (const kind of ['new', 'gone', 'changed'] as const)
    for (const pattern of diff[kind]) output.out(`${asLines ? diffLine(kind, pattern) : JSON.stringify({ kind, ...pattern })}\n`);
}

const STYLES: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  ...{ fatal: ['red', 'bold'], error: 'red', warn: 'yellow', info: 'green', debug: 'gray', trace: 'gray' },
  ...{ new: 'green', gone: 'red', changed: 'yellow' },
};
const COUNT_WIDTH = 9;
const LEVEL_WIDTH = 5;
const SHORT = 12;

/** How many, a picture of when, the level, the beginning of the fingerprint, and the template. */
export function patternLine({ count, trend, level, fingerprint, normalized_message: template, is_new: isNew }: Pattern): string {
  const cells = [
    String(count).padStart(COUNT_WIDTH),
    styleText('cyan', sparkline(trend)),
    styleText(STYLES[level] ?? 'reset', printable(level).padEnd(LEVEL_WIDTH)),
    styleText('gray', printable(fingerprint).slice(0, SHORT)),
    ...(isNew ? [styleText('green', 'new')] : []),
    printable(template),
  ];
  return cells.join(' ');
}

/** What became of a pattern, how many came in both windows, and the template. */
export function diffLine(kind: string, { a, b, fingerprint, normalized_message: template }: Changed): string {
  const head = styleText(STYLES[kind] ?? 'reset', kind.toUpperCase().padEnd('CHANGED'.length));
  const counts = `${String(a).padStart(COUNT_WIDTH)} → ${String(b).padEnd(COUNT_WIDTH)}`;
  return `${head} ${counts} ${styleText('gray', printable(fingerprint).slice(0, SHORT))} ${printable(template)}`;
}

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Numbers as a line of bars, the largest one the highest; a blank where there is none. */
export function sparkline(numbers: readonly number[]): string {
  const most = Math.max(1, ...numbers);
  return numbers.map((number) => (number <= 0 ? ' ' : (BARS[Math.ceil((number / most) * BARS.length) - 1] ?? '█'))).join('');
}

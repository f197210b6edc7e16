import { answerOf, findTarget, TARGET_FLAGS, TARGET_HELP, type Env } from './client.ts';
import { csvOf, csvRow } from './csv.ts';
import { DISPLAY_FLAGS, DISPLAY_HELP, displayOf, type Display } from './display.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { EXIT, outputOf, printable, spaced, styled, type Piece, type Sink, type Style } from './output.ts';
import type { Zone } from './zone.ts';

const HELP = `Usage: logweir patterns [flags]
Prints the patterns of messages, those with most entries first.

  --since TIME     entries since then (default: -24h)
  --search TEXT    those whose template has this text, case-insensitive
  --service NAME   entries of this service
  --sort S         count, first_seen or last_seen (default: count)
  --limit N        at most N, 1 to 2000 (default: 20)
  --diff           which patterns are new, gone and changed between two windows
  --a W, --b W     the windows of --diff, as in -2h..-1h (default: -2h..-1h and -1h..now)
${DISPLAY_HELP}${TARGET_HELP}
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
export async function patternsCommand(argv: readonly string[], env: Env, to: Sink): Promise<number> {
  if (wantsHelp(argv)) {
    outputOf(to, env).out(HELP);
    return EXIT.ok;
  }
  const names = { values: [...TARGET_FLAGS, ...LIST_FLAGS, ...SHARED_FLAGS, ...DIFF_FLAGS, ...DISPLAY_FLAGS], switches: ['diff'] } as const;
  const { values, switches } = readFlags(argv, names, HELP);
  const isDiff = switches.has('diff');
  const display = displayOf(values, env, to);
  const parameters: Record<string, string> = { limit: DEFAULT_LIMIT };
  for (const name of [...SHARED_FLAGS, ...(isDiff ? DIFF_FLAGS : LIST_FLAGS)]) {
    const value = values[name];
    if (value !== undefined) parameters[name] = readValue(name, value, display.zone);
  }
  const target = findTarget(values, env);
  // the service reads the values of flags, and reports those that are wrong
  const query = parameters as object;
  if (isDiff) printDiff((await answerOf(target, 'GET /api/v1/tenants/{tenant_id}/patterns/diff', { query })) as Diff, display);
  else printPatterns((await answerOf(target, 'GET /api/v1/tenants/{tenant_id}/patterns', { query })).patterns as Pattern[], display);
  return EXIT.ok;
}

/** The value of a flag as the service takes it: a time, or two with dots between them, in UTC. */
function readValue(name: string, value: string, zone: Zone): string {
  if (name === 'since') return zone.read(value, 'start');
  const [from, to, ...more] = value.split('..');
  if (!(DIFF_FLAGS as readonly string[]).includes(name) || to === undefined || more.length > 0) return value;
  return `${zone.read(from ?? '', 'start')}..${zone.read(to, 'end')}`;
}

/** Of CSV. */
const COLUMNS = ['count', 'level', 'fingerprint', 'is_new', 'first_seen', 'last_seen', 'normalized_message'];
const DIFF_COLUMNS = ['kind', 'a', 'b', 'expected', 'fingerprint', 'normalized_message'];

function printPatterns(patterns: readonly Pattern[], { output, format, zone }: Display): void {
  if (format === 'csv') output.data(csvRow(COLUMNS));
  for (const pattern of patterns)
    if (format === 'lines') output.out([...patternLine(pattern), '\n']);
    else if (format === 'ndjson') output.data(`${JSON.stringify(pattern)}\n`);
    else output.data(csvOf(COLUMNS, { ...pattern, first_seen: zone.show(pattern.first_seen), last_seen: zone.show(pattern.last_seen) }));
}

function printDiff(diff: Diff, { output, format }: Display): void {
  if (format === 'csv') output.data(csvRow(DIFF_COLUMNS));
  for (const kind of ['new', 'gone', 'changed'] as const)
    for (const pattern of diff[kind])
      if (format === 'lines') output.out([...diffLine(kind, pattern), '\n']);
      else if (format === 'ndjson') output.data(`${JSON.stringify({ kind, ...pattern })}\n`);
      else output.data(csvOf(DIFF_COLUMNS, { kind, ...pattern }));
}

const STYLES: Readonly<Record<string, Style>> = {
  ...{ fatal: ['red', 'bold'], error: 'red', warn: 'yellow', info: 'green', debug: 'gray', trace: 'gray' },
  ...{ new: 'green', gone: 'red', changed: 'yellow' },
};
const COUNT_WIDTH = 9;
const LEVEL_WIDTH = 5;
const SHORT = 12;

/** How many, a picture of when, the level, the beginning of the fingerprint, and the template. */
export function patternLine({ count, trend, level, fingerprint, normalized_message: template, is_new: isNew }: Pattern): readonly Piece[] {
  return spaced([
    String(count).padStart(COUNT_WIDTH),
    styled('cyan', sparkline(trend)),
    styled(STYLES[level] ?? 'reset', printable(level).padEnd(LEVEL_WIDTH)),
    styled('gray', printable(fingerprint).slice(0, SHORT)),
    ...(isNew ? [styled('green', 'new')] : []),
    printable(template),
  ]);
}

/** What became of a pattern, how many came in both windows, and the template. */
export function diffLine(kind: string, { a, b, fingerprint, normalized_message: template }: Changed): readonly Piece[] {
  return spaced([
    styled(STYLES[kind] ?? 'reset', kind.toUpperCase().padEnd('CHANGED'.length)),
    `${String(a).padStart(COUNT_WIDTH)} → ${String(b).padEnd(COUNT_WIDTH)}`,
    styled('gray', printable(fingerprint).slice(0, SHORT)),
    printable(template),
  ]);
}

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Numbers as a line of bars, the largest one the highest; a blank where there is none. */
export function sparkline(numbers: readonly number[]): string {
  const most = Math.max(1, ...numbers);
  return numbers.map((number) => (number <= 0 ? ' ' : (BARS[Math.ceil((number / most) * BARS.length) - 1] ?? '█'))).join('');
}

import type { LogEntry } from '../pipeline/core/entry.ts';
import { textOf } from '../pipeline/core/entry.ts';
import { formatTime, parseTime } from '../pipeline/core/time.ts';
import { bytesOf, findTarget, TARGET_FLAGS, TARGET_HELP, type Env, type Target } from './client.ts';
import { DISPLAY_FLAGS, displayOf, type Display } from './display.ts';
import { readFlags, wantsHelp } from './flags.ts';
import { parseEntry, splitArray, splitObject } from './json-entry.ts';
import { renderLine } from './lines.ts';
import { EXIT, outputOf, printable, spaced, styled, UsageError, type Piece, type Sink } from './output.ts';
import { placedSpans, spansOf, type Placed, type ShownSpan } from './span-tree.ts';
import { TIMEZONE_HELP, type Zone } from './zone.ts';

const HELP = `Usage: logweir trace ID [flags]
Prints the spans of a trace as a tree: when each begins after the first one, how long it takes, its service and name, and its error.
ID is 16 or 32 hex digits.

  --logs          the entries of the log with this trace id, below their spans
  --output F      lines or json, which is OTLP's (default: lines on a terminal, json elsewhere)
${TIMEZONE_HELP}  --color WHEN    auto (default), always or never; NO_COLOR and FORCE_COLOR count too
${TARGET_HELP}
Exit codes: 0 done, 1 there is no such trace, or the service cannot be reached, 2 wrong command line, 3 key refused.
`;

const KINDS = ['', '', 'server', 'client', 'producer', 'consumer'];
/** Deeper spans are shown as if they were so deep. */
const DEEPEST = 40;
const LOGS = 10_000;

/** `logweir trace`: the tree of a trace, and its log in place. */
export async function traceCommand(argv: readonly string[], env: Env, to: Sink): Promise<number> {
  if (wantsHelp(argv)) {
    outputOf(to, env).out(HELP);
    return EXIT.ok;
  }
  const names = { values: [...TARGET_FLAGS, ...DISPLAY_FLAGS], switches: ['logs'], positionals: true } as const;
  const { values, switches, positionals } = readFlags(argv, names, HELP);
  const [id] = positionals;
  if (id === undefined || positionals.length > 1) throw new UsageError(`A trace is named by its id alone.\n${HELP}`);
  const display = displayOf(values, env, to);
  const { output, format, zone } = display;
  if (format === 'csv') throw new UsageError('--output of a trace is lines or json.');
  const target = findTarget(values, env);
  const path = { trace_id: id };
  const body = (await bytesOf(target, 'GET /api/v1/tenants/{tenant_id}/traces/{trace_id}', { path })).toString();
  const logs = switches.has('logs') ? await logsOf(target, id) : [];
  if (format === 'ndjson') {
    output.data(`${body}\n`);
    for (const log of logs) output.data(`${log}\n`);
    return EXIT.ok;
  }
  await printTree(spansOf(body), logs.map(parseEntry), zone, display);
  return EXIT.ok;
}

/** The entries of a trace, oldest first, as JSON. */
async function logsOf(target: Target, id: string): Promise<string[]> {
  const query = { limit: LOGS };
  const members = splitObject(
    await bytesOf(target, 'GET /api/v1/tenants/{tenant_id}/traces/{trace_id}/logs', { path: { trace_id: id }, query }),
  );
  return splitArray(Buffer.from(members.get('logs') ?? '[]')).reverse();
}

async function printTree(spans: readonly ShownSpan[], logs: readonly LogEntry[], zone: Zone, { output }: Display): Promise<void> {
  const placed = placedSpans(spans);
  const first = spans.reduce((least, { start }) => (start < least ? start : least), spans[0]?.start ?? 0n);
  const end = spans.reduce((most, { start, duration }) => (start + duration > most ? start + duration : most), first);
  const errors = spans.filter(({ isError }) => isError).length;
  output.out([
    styled('gray', zone.show(formatTime(first))),
    ` ${lengthText(end - first)}, ${String(spans.length)} spans, ${String(errors)} errors\n`,
  ]);
  const ids = new Set(spans.map((span) => span.id));
  const bySpan = Map.groupBy(logs, (log) => (ids.has(textOf(log.get('span_id'))) ? textOf(log.get('span_id')) : ''));
  for (const place of placed) {
    output.out([...spanLine(place, first), '\n']);
    // of spans with one id the first one has them
    for (const log of bySpan.get(place.span.id) ?? []) output.out([...logLine(log, place.depth, first), '\n']);
    bySpan.delete(place.span.id);
    await output.drained();
  }
  for (const log of bySpan.get('') ?? []) output.out([...logLine(log, 0, first), '\n']);
}

const indentOf = (depth: number): string => '  '.repeat(Math.min(depth, DEEPEST));
const offsetText = (nanoseconds: bigint): string => `+${lengthText(nanoseconds)}`.padStart(9);

/** When it begins, how long it takes, and what it is. */
export function spanLine({ span, depth, note }: Placed, first: bigint): readonly Piece[] {
  const { service, name, kind, start, duration, isError, message } = span;
  return spaced([
    styled('gray', offsetText(start - first)),
    lengthText(duration).padStart(9),
    [indentOf(depth), styled('cyan', printable(service === '' ? '-' : service))],
    printable(name),
    ...((KINDS[kind] ?? '') === '' ? [] : [styled('gray', KINDS[kind] ?? '')]),
    ...(isError ? [styled('red', message === '' ? 'ERROR' : `ERROR ${printable(message)}`)] : []),
    ...(note === '' ? [] : [styled('yellow', `(${printable(note)})`)]),
  ]);
}

/** An entry of the log below a span: without what its place says. */
function logLine(log: LogEntry, depth: number, first: bigint): readonly Piece[] {
  const at = parseTime(textOf(log.get('_time')));
  const shown = new Map([...log].filter(([name]) => !['_time', 'trace_id', 'span_id'].includes(name)));
  return [
    styled('gray', at === null ? '' : offsetText(at - first)),
    ' '.repeat(11),
    indentOf(depth + 1),
    styled('gray', '· '),
    ...renderLine(shown),
  ];
}

/** A length of time with three digits or more: `850ns`, `12.5ms`, `1.25s`. */
export function lengthText(nanoseconds: bigint): string {
  const all = Number(nanoseconds);
  const size = Math.abs(all);
  const [unit, name] = size < 1e3 ? [1, 'ns'] : size < 1e6 ? [1e3, 'µs'] : size < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
  const value = all / unit;
  return `${String(Math.abs(value) < 100 ? Math.round(value * 100) / 100 : Math.round(value))}${name}`;
}

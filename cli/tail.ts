import { parseEntry } from './json-entry.ts';
import { findTarget, TARGET_FLAGS, TARGET_HELP, type Env } from './client.ts';
import { csvRow } from './csv.ts';
import { csvEntry, FIRST_COLUMNS } from './csv-entry.ts';
import { DISPLAY_FLAGS, DISPLAY_HELP, displayOf, type Display } from './display.ts';
import { followEvents, type StreamEvent } from './event-stream.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { renderLine } from './lines.ts';
import { EXIT, outputOf, UsageError, type Sink } from './output.ts';

const HELP = `Usage: logweir tail '<LogsQL>' [flags]
Prints what matches as it arrives: coloured lines on a terminal, NDJSON in a pipe. Ends with Ctrl-C.

  --since TIME    begin with what is stored since then: -5m, 2026-11-20T10:00
  --fields A,B    these fields alone
${DISPLAY_HELP}${TARGET_HELP}
Where the connection is lost it goes on behind the last entry: nothing is missing, and nothing comes twice.
Exit codes: 0 ended, 2 wrong command line or query, 3 key refused.
`;

const STATUS_MS = 1000;

/** `logweir tail`: entries as they come, until the signal. */
export async function tailCommand(argv: readonly string[], env: Env, to: Sink, signal = interrupted()): Promise<number> {
  if (wantsHelp(argv)) {
    outputOf(to, env).out(HELP);
    return EXIT.ok;
  }
  const names = { values: [...TARGET_FLAGS, ...DISPLAY_FLAGS, 'since', 'fields'], positionals: true } as const;
  const { values, positionals } = readFlags(argv, names, HELP);
  const [query] = positionals;
  if (query === undefined || positionals.length > 1) throw new UsageError(`A query is one argument; put it in quotes.\n${HELP}`);
  const fields = values.fields?.split(',').map((name) => name.trim());
  const display = displayOf(values, env, to);
  const target = findTarget(values, env);
  const url = new URL(`${target.appUrl}/api/v1/tenants/${target.tenantId}/tail`);
  url.searchParams.set(
    'query',
    fields === undefined ? query : `${query} | fields ${fields.map((name) => JSON.stringify(name)).join(', ')}`,
  );
  if (values.since !== undefined) url.searchParams.set('since', display.zone.read(values.since, 'start'));
  const printer = new TailPrinter(display, fields ?? FIRST_COLUMNS);
  const timer = setInterval(() => {
    printer.status();
  }, STATUS_MS);
  try {
    const onEvent = (event: StreamEvent): void => {
      printer.take(event);
    };
    return await followEvents({
      url,
      key: target.key,
      signal,
      onEvent,
      onLost: (why) => display.output.err(`${why} Connecting again …\n`),
    });
  } finally {
    clearInterval(timer);
    printer.end();
  }
}

/** Aborted by Ctrl-C. */
export function interrupted(): AbortSignal {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      ending.abort();
    });
  return ending.signal;
}

/** Prints entries, and on a terminal a line below them with their rate. */
class TailPrinter {
  readonly #display: Display;
  /** Of CSV: what comes later may have fields that are not known yet. */
  readonly #columns: readonly string[];
  #sum = 0;
  #lately = 0;
  #dropped = 0;

  constructor(display: Display, columns: readonly string[]) {
    this.#display = display;
    this.#columns = columns;
    if (display.format === 'csv') display.output.data(csvRow(columns));
  }

  take({ type, data }: StreamEvent): void {
    if (type === 'message') this.#entry(data);
    else if (type === 'dropped') this.#print(this.#droppedText(data));
    else if (type === 'failed') this.#print(`The tail ended: ${String((JSON.parse(data) as { detail?: unknown }).detail)}`);
    else if (type === 'backfill') {
      const { count, cut } = JSON.parse(data) as { readonly count: number; readonly cut: boolean };
      if (cut) this.#print(`There are more stored entries than these ${String(count)}.`);
    }
  }

  /** Once a second. */
  status(): void {
    const text = `${String(this.#lately)}/s, ${String(this.#sum)} entries${this.#dropped === 0 ? '' : `, ${String(this.#dropped)} dropped`}`;
    this.#lately = 0;
    const { output, format } = this.#display;
    // elsewhere it would be no line to write over, or stand between those of another program
    if (output.hasStatusLine && output.isTerminal && format === 'lines') output.progress(text);
  }

  end(): void {
    this.#display.output.endProgress();
  }

  #entry(text: string): void {
    this.#sum += 1;
    this.#lately += 1;
    const { output, format, zone } = this.#display;
    if (format === 'ndjson') output.data(`${text}\n`);
    else if (format === 'csv') output.data(csvEntry(parseEntry(text), this.#columns, zone));
    else output.out([...renderLine(parseEntry(text), zone), '\n']);
  }

  #droppedText(data: string): string {
    const { count, reason, since, until } = JSON.parse(data) as Readonly<Record<'reason' | 'since' | 'until', string>> & {
      readonly count: number;
    };
    this.#dropped += count;
    const { zone } = this.#display;
    return `${String(count)} entries were dropped (${reason}), arrived from ${zone.show(since)} to ${zone.show(until)}.`;
  }

  #print(text: string): void {
    this.#display.output.err(`${text}\n`);
  }
}

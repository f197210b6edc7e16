import { parseEntry } from './json-entry.ts';
import { findTarget, TARGET_FLAGS, TARGET_HELP, type Env } from './client.ts';
import { followEvents, type StreamEvent } from './event-stream.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { renderLine } from './lines.ts';
import { EXIT, UsageError, type Output } from './output.ts';

const HELP = `Usage: logweir tail '<LogsQL>' [flags]
Prints what matches as it arrives: coloured lines on a terminal, NDJSON in a pipe. Ends with Ctrl-C.

  --since TIME    begin with what is stored since then: -5m, 2026-11-20T10:00:00Z
  --fields A,B    these fields alone
  --format F      lines or ndjson
${TARGET_HELP}
Where the connection is lost it goes on behind the last entry: nothing is missing, and nothing comes twice.
Exit codes: 0 ended, 2 wrong command line or query, 3 key refused.
`;

const STATUS_MS = 1000;

/** `logweir tail`: entries as they come, until the signal. */
export async function tailCommand(argv: readonly string[], env: Env, output: Output, signal = interrupted()): Promise<number> {
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const names = { values: [...TARGET_FLAGS, 'since', 'fields', 'format'], positionals: true } as const;
  const { values, positionals } = readFlags(argv, names, HELP);
  const [query] = positionals;
  if (query === undefined || positionals.length > 1) throw new UsageError(`A query is one argument; put it in quotes.\n${HELP}`);
  if (values.format !== undefined && !['lines', 'ndjson'].includes(values.format)) throw new UsageError('--format is lines or ndjson.');
  const target = findTarget(values, env);
  const url = new URL(`${target.appUrl}/api/v1/tenants/${target.tenantId}/tail`);
  url.searchParams.set('query', values.fields === undefined ? query : `${query} | fields ${fieldsOf(values.fields)}`);
  if (values.since !== undefined) url.searchParams.set('since', values.since);
  const asLines = values.format === undefined ? output.isTerminal : values.format === 'lines';
  const printer = new TailPrinter(output, asLines);
  const timer = setInterval(() => {
    printer.status();
  }, STATUS_MS);
  try {
    const onEvent = (event: StreamEvent): void => {
      printer.take(event);
    };
    return await followEvents({ url, key: target.key, signal, onEvent, onLost: (why) => output.err(`${why} Connecting again …\n`) });
  } finally {
    clearInterval(timer);
    printer.end();
  }
}

/** Field names as LogsQL takes them. */
const fieldsOf = (names: string): string =>
  names
    .split(',')
    .map((name) => JSON.stringify(name.trim()))
    .join(', ');

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
  readonly #output: Output;
  readonly #asLines: boolean;
  #sum = 0;
  #lately = 0;
  #dropped = 0;
  #hasStatus = false;

  constructor(output: Output, asLines: boolean) {
    this.#output = output;
    this.#asLines = asLines;
  }

  take({ type, data }: StreamEvent): void {
    if (type === 'message') this.#entry(data);
    else if (type === 'dropped') this.#say(this.#droppedText(data));
    else if (type === 'failed') this.#say(`The tail ended: ${String((JSON.parse(data) as { detail?: unknown }).detail)}`);
    else if (type === 'backfill') {
      const { count, cut } = JSON.parse(data) as { readonly count: number; readonly cut: boolean };
      if (cut) this.#say(`There are more stored entries than these ${String(count)}.`);
    }
  }

  /** Once a second. */
  status(): void {
    const text = `${String(this.#lately)}/s, ${String(this.#sum)} entries${this.#dropped === 0 ? '' : `, ${String(this.#dropped)} dropped`}`;
    this.#lately = 0;
    if (!this.#output.isTerminal || !this.#asLines) return;
    this.#clear();
    this.#output.err(text);
    this.#hasStatus = true;
  }

  end(): void {
    this.#clear();
  }

  #entry(text: string): void {
    this.#sum += 1;
    this.#lately += 1;
    this.#clear();
    this.#output.out(`${this.#asLines ? renderLine(parseEntry(text)) : text}\n`);
  }

  #droppedText(data: string): string {
    const { count, reason, since, until } = JSON.parse(data) as Readonly<Record<'reason' | 'since' | 'until', string>> & {
      readonly count: number;
    };
    this.#dropped += count;
    return `${String(count)} entries were dropped (${reason}), arrived from ${since} to ${until}.`;
  }

  #say(text: string): void {
    this.#clear();
    this.#output.err(`${text}\n`);
  }

  /** The line of the status goes before anything else is written. */
  #clear(): void {
    if (this.#hasStatus) this.#output.err('\r\u001b[2K');
    this.#hasStatus = false;
  }
}

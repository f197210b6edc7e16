import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { textOf, type LogEntry } from '../pipeline/core/entry.ts';
import { bytesOf, findTarget, send, TARGET_FLAGS, TARGET_HELP, type Env, type Target } from './client.ts';
import { csvRow } from './csv.ts';
import { columnsOf, csvEntry } from './csv-entry.ts';
import { DISPLAY_FLAGS, DISPLAY_HELP, displayOf, type Display } from './display.ts';
import { readFlags, wantsHelp } from './flags.ts';
import { parseEntry, splitArray, splitObject } from './json-entry.ts';
import { EXIT, outputOf, printable, spaced, styled, UsageError, type Piece, type Sink } from './output.ts';
import { lengthText } from './trace.ts';
import type { Zone } from './zone.ts';

const HELP = `Usage: logweir replay list [flags]
       logweir replay export SESSION [--from TIME] [--to TIME] [--file FILE]
       logweir replay delete SESSION
Sessions that were recorded: a list of them, the newest last; the events of one as NDJSON, for a player of rrweb; or its deletion.

list:
  --query Q         LogsQL over what a session is: 'rage_clicks:>0 pages:>3'
  --user, --service, --page TEXT  of this user or service; that opened a page whose address has this text
  --errors          those with errors or failed requests
  --min-length L    those that last so long: 30s, 5m
  --start, --end TIME             when they begin (default: the last day)
  --limit N         the newest N, 1 to 1000 (default: 100)
export:
  --from, --to TIME               a part: it begins at the last full snapshot before
  --file FILE       where to (default: standard output)
${DISPLAY_HELP}${TARGET_HELP}
Exit codes: 0 done, 1 there is no such session, or the service cannot be reached, 2 wrong command line, 3 key refused.
`;

const LIST_FLAGS = ['query', 'user', 'service', 'page', 'min-length', 'start', 'end', 'limit'] as const;
const EXPORT_FLAGS = ['from', 'to', 'file'] as const;
/** Flags of the list by the parameters that they are. */
const PARAMETERS: Readonly<Record<(typeof LIST_FLAGS)[number], string>> = {
  ...{
    query: 'query',
    user: 'user',
    service: 'service',
    page: 'url',
    'min-length': 'min_length',
    start: 'start',
    end: 'end',
    limit: 'limit',
  },
};

/** `logweir replay`: lists, exports and deletes sessions. */
export async function replayCommand(argv: readonly string[], env: Env, to: Sink): Promise<number> {
  const output = outputOf(to, env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const names = {
    values: [...TARGET_FLAGS, ...LIST_FLAGS, ...EXPORT_FLAGS, ...DISPLAY_FLAGS],
    switches: ['errors'],
    positionals: true,
  } as const;
  const { values, switches, positionals } = readFlags(argv, names, HELP);
  const [verb, session, ...more] = positionals;
  const display = displayOf(values, env, to);
  const target = findTarget(values, env);
  if (verb === 'list' && session === undefined) {
    const parameters: Record<string, string> = switches.has('errors') ? { errors: 'true' } : {};
    for (const name of LIST_FLAGS) {
      const value = values[name];
      if (value !== undefined) parameters[PARAMETERS[name]] = name === 'start' || name === 'end' ? display.zone.read(value, name) : value;
    }
    await list(target, parameters, display);
    return EXIT.ok;
  }
  if (session === undefined || more.length > 0) throw new UsageError(HELP);
  if (verb === 'export') await exportEvents(target, session, rangeOf(values, display.zone), values.file, display);
  else if (verb === 'delete') {
    await send(target, 'DELETE /api/v1/tenants/{tenant_id}/replay/sessions/{session}', { path: { session } });
    output.err(`The session ${printable(session)} is deleted; its bytes are erased within an hour.\n`);
  } else throw new UsageError(HELP);
  return EXIT.ok;
}

const rangeOf = ({ from, to }: { readonly from?: string; readonly to?: string }, zone: Zone): Readonly<Record<string, string>> => ({
  ...(from === undefined ? {} : { from: zone.read(from, 'start') }),
  ...(to === undefined ? {} : { to: zone.read(to, 'end') }),
});

async function list(target: Target, query: object, display: Display): Promise<void> {
  const members = splitObject(await bytesOf(target, 'GET /api/v1/tenants/{tenant_id}/replay/sessions', { query }));
  const sessions = splitArray(Buffer.from(members.get('sessions') ?? '[]')).reverse();
  const { output, format, zone } = display;
  if (format === 'ndjson') for (const session of sessions) output.data(`${session}\n`);
  else if (format === 'csv') {
    const columns = columnsOf(sessions);
    output.data(csvRow(columns));
    for (const session of sessions) output.data(csvEntry(parseEntry(session), columns, zone));
  } else for (const session of sessions) output.out([...sessionLine(parseEntry(session), zone), '\n']);
  await output.drained();
  if (sessions.length === 0) output.err('No session matches.\n');
  else if (members.get('has_more') === 'true')
    output.err(`There are more than these ${String(sessions.length)}; --limit gives more of them.\n`);
}

/** A session as a line: when it begins, how long it lasts, its id, its user, its first page, and what went wrong. */
function sessionLine(session: LogEntry, zone: Zone): readonly Piece[] {
  const text = (name: string): string => printable(textOf(session.get(name)));
  const counted = (name: string, what: string): readonly Piece[] => (text(name) === '0' ? [] : [styled('red', `${text(name)} ${what}`)]);
  return spaced([
    styled('gray', printable(zone.show(text('_time')))),
    lengthText(BigInt(/^\d+$/.test(text('duration_ms')) ? text('duration_ms') : '0') * 1_000_000n).padStart(6),
    styled('cyan', printable(text('session_id'))),
    ...(text('user') === '' ? [] : [printable(text('user'))]),
    printable(text('url')),
    styled('gray', `${text('events')} events`),
    ...counted('errors', 'errors'),
    ...counted('failed_requests', 'failed requests'),
    ...counted('rage_clicks', 'rage clicks'),
  ].filter((piece) => typeof piece === 'string' || !Array.isArray(piece) || piece.length > 0)); // prettier-ignore
}

/** Writes the events as they come: a session may have 256 MB. */
async function exportEvents(target: Target, session: string, query: object, file: string | undefined, { output }: Display): Promise<void> {
  const response = await send(target, 'GET /api/v1/tenants/{tenant_id}/replay/sessions/{session}/events', { path: { session }, query });
  if (response.body === null) return;
  if (file !== undefined) {
    await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
    return;
  }
  const decoder = new TextDecoder();
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    output.data(decoder.decode(chunk, { stream: true }));
    await output.drained();
  }
  output.data(decoder.decode());
}

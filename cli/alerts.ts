import WebSocket from 'ws';
import { answerOf, findTarget, TARGET_FLAGS, TARGET_HELP, type Env, type Target } from './client.ts';
import { csvOf, csvRow } from './csv.ts';
import { DISPLAY_FLAGS, DISPLAY_HELP, displayOf } from './display.ts';
import { wantsHelp, readFlags } from './flags.ts';
import {
  EXIT,
  outputOf,
  printable,
  RefusedError,
  spaced,
  styled,
  UsageError,
  type Output,
  type Piece,
  type Sink,
  type Style,
} from './output.ts';
import { interrupted } from './tail.ts';
import { UTC, type Zone } from './zone.ts';

const HELP = `Usage: logweir alerts [flags]
Prints the alerts that fire, and those that were resolved lately, oldest first.

  --follow        go on with alerts that fire or are resolved, as it happens; ends with Ctrl-C
  --updates       with --follow: also what changes about an alert that fires
  --newest-first  the newest alert first; not with --follow
${DISPLAY_HELP}${TARGET_HELP}
Exit codes: 0 done, 1 the service cannot be reached, 2 wrong command line, 3 key refused.
`;

/** What of an alert is printed. */
type Alert = Readonly<Record<'severity' | 'title' | 'description' | 'state' | 'stream' | 'fired_at' | 'last_updated_at', string>> & {
  readonly id: number;
  readonly resolved_at: string | null;
};

/** Of CSV. */
const COLUMNS = ['type', 'severity', 'title', 'description', 'state', 'stream', 'fired_at', 'last_updated_at', 'resolved_at', 'id'];
const TIMES = ['fired_at', 'last_updated_at', 'resolved_at'] as const;
const AGAIN_MS = 1000;

/** `logweir alerts`: the alerts of a tenant, and what comes. */
export async function alertsCommand(argv: readonly string[], env: Env, to: Sink, signal?: AbortSignal): Promise<number> {
  if (wantsHelp(argv)) {
    outputOf(to, env).out(HELP);
    return EXIT.ok;
  }
  const names = { values: [...TARGET_FLAGS, ...DISPLAY_FLAGS], switches: ['follow', 'updates', 'newest-first'] } as const;
  const { values, switches } = readFlags(argv, names, HELP);
  const target = findTarget(values, env);
  const isNewestFirst = switches.has('newest-first');
  if (isNewestFirst && switches.has('follow')) throw new UsageError('--follow prints alerts as they come: it takes no --newest-first.');
  const { output, format, zone } = displayOf(values, env, to);
  const print = (type: string, alert: Alert): void => {
    if (format === 'lines') output.out([...alertLine(type, alert, zone), '\n']);
    else if (format === 'csv') output.data(csvOf(COLUMNS, shownIn(zone, { type, ...alert })));
    else output.data(`${JSON.stringify({ type, alert })}\n`);
  };
  const { items } = await answerOf(target, 'GET /api/v1/tenants/{tenant_id}/alerts', { query: { limit: 1000 } });
  if (format === 'csv') output.data(csvRow(COLUMNS));
  for (const alert of isNewestFirst ? items : items.reverse()) print(alert.state, alert);
  if (!switches.has('follow')) return EXIT.ok;
  return follow(target, switches.has('updates'), print, output, signal ?? interrupted());
}

/** Follows alerts, and reconnects where the connection is lost: missed events come first. */
async function follow(
  target: Target,
  withUpdates: boolean,
  print: (type: string, alert: Alert) => void,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  let since = new Date().toISOString();
  const printed = new Map<number, string>();
  while (!signal.aborted) {
    const url = new URL(`/ws/alerts/${target.tenantId}`, target.appUrl.replace(/^http/, 'ws'));
    url.searchParams.set('since', since);
    if (withUpdates) url.searchParams.set('updates', 'true');
    const why = await session(url, target.key, signal, (type, alert) => {
      const mark = `${alert.state} ${alert.last_updated_at}`;
      if (printed.get(alert.id) === mark) return;
      printed.set(alert.id, mark);
      if (alert.last_updated_at > since) since = alert.last_updated_at;
      print(type, alert);
    });
    if (isAborted(signal)) break;
    output.err(`${why} Connecting again …\n`);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  return EXIT.ok;
}

const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** One connection; resolves with why it has ended. */
function session(url: URL, key: string, signal: AbortSignal, onEvent: (type: string, alert: Alert) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, ['logweir.v1', `logweir.bearer.${key}`]);
    const end = (): void => {
      socket.terminate();
    };
    signal.addEventListener('abort', end, { once: true });
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { readonly type?: string; readonly alert?: Alert };
      if (message.type !== undefined && message.alert !== undefined) onEvent(message.type, message.alert);
    });
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      if (statusCode === 401 || statusCode === 403) reject(new RefusedError(`The service refused the key (HTTP ${String(statusCode)}).`));
      else resolve(`The service answered with HTTP ${String(statusCode)}.`);
      end();
    });
    socket.on('error', (error) => {
      resolve(`${error.message}.`);
    });
    socket.on('close', (_code, reason) => {
      signal.removeEventListener('abort', end);
      resolve(reason.length > 0 ? reason.toString() : 'The connection was lost.');
    });
  });
}

/** With its times in the zone. */
const shownIn = (zone: Zone, alert: Alert & { readonly type: string }): Readonly<Record<string, unknown>> => ({
  ...alert,
  ...Object.fromEntries(TIMES.map((name) => [name, zone.show(alert[name] ?? '')])),
});

const STYLES: Readonly<Record<string, Style>> = { critical: ['red', 'bold'], warning: 'yellow', info: 'cyan' };

/** Since when it fires or is resolved, or when it was published, what, and on a line of its own the description. */
export function alertLine(type: string, alert: Alert, zone: Zone = UTC): readonly Piece[] {
  const { severity, title, description, fired_at: firedAt, resolved_at: resolvedAt, last_updated_at: updatedAt } = alert;
  const at = ['firing', 'fired'].includes(type) ? firedAt : type === 'resolved' ? (resolvedAt ?? updatedAt) : updatedAt;
  const head = [
    styled('gray', printable(zone.show(at))),
    printable(type.toUpperCase()).padEnd(8),
    styled(STYLES[severity] ?? 'reset', printable(severity)),
    printable(title),
  ];
  return [...spaced(head), '\n  ', styled('gray', printable(description))];
}

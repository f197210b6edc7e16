import Joi from 'joi';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { checkedQuery } from '../../http/lists.ts';
import { timeOf } from '../../query/window.ts';
import type { LiveTails } from '../../limits/live-tails.ts';
import { projectAlerts } from '../../query/project-alerts.ts';
import type { QueryRuntime } from '../../query/runtime.ts';
import { INTERNAL, POLICY, TRY_AGAIN } from '../outlet.ts';
import { socketOperation } from '../sockets/described.ts';
import type { OpenSocket, SocketEndpoint } from '../sockets/live-sockets.ts';
import type { StoredPlaces } from '../place/stored-places.ts';
import type { AlertEvent, AlertStreams } from './alert-streams.ts';
import { readJson } from '../../../pipeline/core/read-json.ts';

export type AlertSocketDeps = {
  readonly streams: AlertStreams;
  readonly runtime: QueryRuntime;
  /** Up to where the topic of alerts is stored. */
  readonly stored: StoredPlaces;
};

/** What may wait for a client that does not read: alerts are few. Bytes. */
const MAX_UNSENT = 256 * 1024;

const QUERY = Joi.object<{ readonly updates: boolean; readonly since?: string }>({
  updates: Joi.boolean().default(false).description('Alerts that go on are sent again as they change.'),
  since: Joi.string().description('From when on stored changes come first.').example('-1h'),
}).unknown();
const OPERATION = socketOperation(
  {
    ...{ id: 'openAlerts', summary: 'Alerts as they change, over a WebSocket' },
    description:
      'A WebSocket that takes no messages: an alert in each frame (docs/live.md). The key may be sent as the subprotocol `logweir.bearer.KEY`.',
  },
  QUERY,
);

/** `/ws/alerts/{tenant_id}`: changes of alerts, as they are published. */
export const alertSockets = (deps: AlertSocketDeps, streams: LiveTails): SocketEndpoint => ({
  path: '/ws/alerts/{tenant_id}',
  isNarrowed: true,
  operation: OPERATION,
  tails: streams,
  check: (query) => void readQuery(query),
  open: (socket) => {
    void new AlertSocket(deps, socket).follow();
  },
});

/** Reads `updates` and `since`. Throws HttpError 400. */
function readQuery(query: URLSearchParams): { readonly withUpdates: boolean; readonly since: string | null } {
  const { updates, since } = checkedQuery(QUERY, query);
  if (since !== undefined) timeOf('since', since, BigInt(Date.now()) * 1_000_000n);
  return { withUpdates: updates, since: since ?? null };
}

class AlertSocket {
  readonly #deps: AlertSocketDeps;
  readonly #open: OpenSocket;
  readonly #withUpdates: boolean;
  readonly #since: string | null;
  /** What a key of a project is shown; null: everything. */
  #isShown: ReturnType<typeof projectAlerts> | null = null;
  /** Events that come while earlier alerts are sent; null afterwards. */
  #held: AlertEvent[] | null = [];

  constructor(deps: AlertSocketDeps, open: OpenSocket) {
    this.#deps = deps;
    this.#open = open;
    ({ withUpdates: this.#withUpdates, since: this.#since } = readQuery(open.query));
    open.socket.on('message', () => open.close({ code: POLICY, reason: 'This socket takes no messages: its parameters are in the URL.' }));
  }

  async follow(): Promise<void> {
    const { principal, signal, close } = this.#open;
    try {
      this.#isShown = principal.project === undefined ? null : projectAlerts(principal.project);
    } catch (error) {
      close({ code: POLICY, reason: error instanceof HttpError ? error.message : 'The project of this key cannot narrow alerts.' });
      return;
    }
    const { begin, leave } = this.#deps.streams.listen(principal.tenantId, (event) => this.#take(event));
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    try {
      const place = await begin;
      const sent = new Map<number, ShownAlert>();
      if (this.#since !== null) {
        await this.#deps.stored.wait(place, signal);
        for (const alert of await this.#before(this.#since)) {
          sent.set(alert.id, alert);
          this.#send({ type: alert.state === 'firing' ? 'fired' : 'resolved', alert });
        }
      }
      const held = this.#held ?? [];
      this.#held = null;
      for (const event of held) if (!isPublished(event, sent.get(event.alert.id))) this.#send(event);
    } catch (error) {
      if (signal.aborted) return;
      const isTransient = error instanceof HttpError;
      close({ code: isTransient ? TRY_AGAIN : INTERNAL, reason: isTransient ? error.message : 'The stream of alerts failed.' });
    }
  }

  async #before(since: string): Promise<readonly ShownAlert[]> {
    const { principal, requestId, signal } = this.#open;
    const context = { principal, requestId, signal, startedAt: performance.now() };
    const { body } = await this.#deps.runtime.run(context, 'live/alerts', { since }, { isFree: true });
    const { items, cut } = readJson((body as string | Buffer).toString()) as { items: ShownAlert[]; cut: boolean };
    if (cut) this.#open.socket.send(JSON.stringify({ _control: { type: 'backfill', count: items.length, cut } }));
    return items;
  }

  #take(event: AlertEvent): void {
    if (event.type === 'updated' && !this.#withUpdates) return;
    const { detector_type: detector, stream, evidence } = event.alert;
    if (this.#isShown?.({ detector, stream, evidence }) === false) return;
    if (this.#held === null) this.#send(event);
    else this.#held.push(event);
  }

  #send(event: AlertEvent): void {
    const { socket, close } = this.#open;
    if (socket.bufferedAmount > MAX_UNSENT)
      close({ code: TRY_AGAIN, reason: 'Alerts are not read fast enough; connect again with `since`.' });
    else socket.send(JSON.stringify(event));
  }
}

/** Whether an alert was sent in the state of this event, or in a later one. */
const isPublished = ({ alert }: AlertEvent, sent: ShownAlert | undefined): boolean =>
  sent !== undefined &&
  (alert.last_updated_at < sent.last_updated_at || (alert.last_updated_at === sent.last_updated_at && alert.state === sent.state));

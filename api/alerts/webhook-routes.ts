import { randomUUID } from 'node:crypto';
import type { ShownAlert } from '../../pipeline/alerting/book/shown-alert.ts';
import { HttpError, invalidBody, notFound, rateLimited } from '../../pipeline/core/errors.ts';
import type { Addresses } from '../../pipeline/alerting/announcements/addresses.ts';
import type { Send } from '../../pipeline/alerting/announcements/courier.ts';
import { retried, type Delivery } from '../../pipeline/alerting/announcements/delivery.ts';
import type { Outbox } from '../../pipeline/alerting/announcements/outbox.ts';
import { urlFault, webhookSecret } from '../../pipeline/alerting/announcements/webhook.ts';
import { checkedBody } from '../http/checked-body.ts';
import { checkedQuery, pageOf } from '../http/lists.ts';
import type { Peers } from '../admin/peers.ts';
import type { ControlStore } from '../control/control-store.ts';
import type { WebhookRecord } from '../control/records.ts';
import { changeWebhook, createWebhook, requireWebhook, webhooksOf, type WebhookFields } from '../control/webhooks.ts';
import type { Route, RouteAnswer, RouteContext } from '../http/route.ts';
import * as described from './described-webhooks.ts';

const BASE = '/api/v1/tenants/{tenant_id}/webhooks';
const DELIVERIES = '/api/v1/tenants/{tenant_id}/webhook-deliveries';

export type WebhookRoutesOptions = {
  readonly control: ControlStore;
  readonly peers: Pick<Peers, 'query'>;
  readonly outbox: Pick<Outbox, 'of' | 'find' | 'change'>;
  readonly send: Send;
  readonly addresses: Addresses;
  readonly pepper: string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

const shown = ({ id, url, form, minSeverity, detectors, services, isEnabled, createdAt }: WebhookRecord): object => ({
  ...{ id, url, form, min_severity: minSeverity, detectors, services, enabled: isEnabled, created_at: createdAt },
});

const iso = (ms: number): string => new Date(ms).toISOString();

const shownDelivery = ({ id, webhookId, type, alert, state, attempts, madeAt, at, status, error }: Delivery): object => ({
  ...{ id, webhook_id: webhookId, type, alert_id: alert.id, title: alert.title, state, attempts, created_at: iso(madeAt) },
  ...(state === 'failed' ? { failed_at: iso(at) } : { next_attempt_at: iso(at) }),
  ...{ status, error },
});

/** The alert of a test; it is in no table. */
const sample = (now: number): ShownAlert => ({
  ...{ id: 1, detector_type: 'test', stream: '{service="test"}', severity: 'info', title: 'This is a test' },
  description: 'This is a test of this webhook. No alert has fired.',
  ...{ evidence: {}, state: 'firing', fired_at: iso(now), fire_count: 1, resolved_at: null, last_updated_at: iso(now) },
  ...{ resolution_note: null, incident_id: null },
});

/** The endpoints of a tenant's webhooks and failed deliveries. A change is answered after every process of this instance has it. */
export function createWebhookRoutes(options: WebhookRoutesOptions): readonly Route[] {
  const { control, peers, addresses, pepper } = options;
  const fieldsOf = async (context: RouteContext): Promise<WebhookFields> => {
    const {
      url,
      form,
      min_severity: minSeverity,
      detectors,
      services,
      enabled,
    } = checkedBody(described.WEBHOOK_BODY, await context.body());
    const fault = urlFault(url, addresses);
    if (fault !== null) throw invalidBody(fault);
    return { url, form, minSeverity, detectors, services, isEnabled: enabled };
  };
  const settled = async (answer: RouteAnswer): Promise<RouteAnswer> => {
    await peers.query(`/admin/control/${control.offset.toString()}`);
    return answer;
  };
  const at = ({ principal: { tenantId }, params }: RouteContext): { tenantId: number; id: string } => ({ tenantId, id: params['webhook_id'] ?? '' }); // prettier-ignore
  return [
    {
      ...{ method: 'GET', path: BASE, scope: 'read', operation: described.WEBHOOKS },
      handle: ({ principal, query }) =>
        Promise.resolve({ status: 200, body: pageOf(webhooksOf(control, principal.tenantId).map(shown), described.WEBHOOK_LIST, query) }),
    },
    {
      ...{ method: 'POST', path: BASE, scope: 'write', operation: described.CREATE_WEBHOOK },
      handle: async (context) => {
        const made = await createWebhook(control, context.principal.tenantId, await fieldsOf(context));
        return settled({ status: 201, body: { ...shown(made), secret: webhookSecret(pepper, made) } });
      },
    },
    {
      ...{ method: 'GET', path: `${BASE}/{webhook_id}`, scope: 'read', operation: described.ONE_WEBHOOK },
      handle: (context) => {
        const { tenantId, id } = at(context);
        return Promise.resolve({ status: 200, body: shown(requireWebhook(control, tenantId, id)) });
      },
    },
    {
      ...{ method: 'PUT', path: `${BASE}/{webhook_id}`, scope: 'write', operation: described.CHANGE_WEBHOOK },
      handle: async (context) => settled({ status: 200, body: shown(await changeWebhook(control, at(context), await fieldsOf(context))) }),
    },
    {
      ...{ method: 'DELETE', path: `${BASE}/{webhook_id}`, scope: 'write', operation: described.DELETE_WEBHOOK },
      handle: async (context) => {
        await changeWebhook(control, at(context), { isDeleted: true });
        return settled({ status: 204 });
      },
    },
    testRoute(options),
    ...deliveryRoutes(options),
  ];
}

/** Sends a test now and returns its outcome; one at a time for each tenant. */
function testRoute({ control, send, now = Date.now }: WebhookRoutesOptions): Route {
  const testing = new Set<number>();
  return {
    ...{ method: 'POST', path: `${BASE}/{webhook_id}/test`, scope: 'write', operation: described.TEST_WEBHOOK },
    handle: async ({ principal: { tenantId }, params }) => {
      const webhook = requireWebhook(control, tenantId, params['webhook_id'] ?? '');
      if (testing.has(tenantId)) throw rateLimited('Another test of this tenant is on its way.', 1);
      testing.add(tenantId);
      const began = performance.now();
      const answer = await send(webhook, { deliveryId: `dl_test_${randomUUID()}`, tenantId, type: 'test', alert: sample(now()) })
        .catch((error: unknown) => errorOf(error))
        .finally(() => testing.delete(tenantId));
      const [status, error] = typeof answer === 'number' ? [answer, null] : [null, answer];
      const isDelivered = status !== null && status >= 200 && status < 300;
      return { status: 200, body: { delivered: isDelivered, status, error, duration_ms: Math.round(performance.now() - began) } };
    },
  };
}

/** What came in place of an answer. */
const errorOf = (error: unknown): string => (error instanceof Error ? error.message.slice(0, 300) : String(error));

function deliveryRoutes({ control, outbox, now = Date.now }: WebhookRoutesOptions): Route[] {
  return [
    {
      ...{ method: 'GET', path: DELIVERIES, scope: 'read', operation: described.DELIVERIES },
      handle: ({ principal: { tenantId }, query }) => {
        const { state } = checkedQuery(described.DELIVERY_LIST, query);
        const own = outbox.of(tenantId).filter((one) => state === 'all' || one.state === state);
        return Promise.resolve({ status: 200, body: pageOf(own.map(shownDelivery), described.DELIVERY_LIST, query) });
      },
    },
    {
      ...{ method: 'POST', path: `${DELIVERIES}/{delivery_id}/retry`, scope: 'write', operation: described.RETRY },
      handle: async ({ principal: { tenantId }, params }) => {
        const delivery = outbox.find(params['delivery_id'] ?? '');
        if (delivery?.tenantId !== tenantId) throw notFound('There is no such delivery.');
        requireWebhook(control, tenantId, delivery.webhookId);
        const next = retried(delivery, now());
        await outbox.change(next).catch((cause: unknown) => {
          throw new HttpError(503, 'unavailable', 'The outbox cannot be reached; retry later.', { retryAfter: 5, cause });
        });
        return { status: 202, body: shownDelivery(next) };
      },
    },
  ];
}

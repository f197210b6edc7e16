import { createKeyRoutes } from '../../../api/account/key-routes.ts';
import { createProjectRoutes } from '../../../api/account/project-routes.ts';
import { createSavedSearchRoutes } from '../../../api/account/search-routes.ts';
import { createKey } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { appEndpoint, type Endpoint } from '../../../api/http/endpoint.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import type { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { startHost } from '../../fakes/test-host.ts';

export type Answer = { readonly status: number; readonly body: Record<string, unknown>; readonly detail: string };
export type AccountNode = {
  readonly store: ControlStore;
  call(key: string, method: string, path: string, body?: unknown): Promise<Answer>;
  keyOf(tenantId: number, scopes: readonly Scope[], expires?: string | null): Promise<string>;
  stop(): Promise<void>;
};

/** A node with the endpoints of accounts, and one of a whole tenant, over a topic in memory. */
export async function accountNode(topic: FakeControlTopic): Promise<AccountNode> {
  const { store } = await controlNode(topic);
  const options = { control: store, settled: () => Promise.resolve() };
  const routes = [createKeyRoutes, createSavedSearchRoutes, createProjectRoutes].flatMap((create) => create(options));
  const whole: Endpoint = {
    ...{ methods: ['GET'], path: '/api/v1/tenants/{tenant_id}/whole', errors: 'query', access: { plane: 'app', scope: 'read' } },
    handle: () => Promise.resolve({ status: 200, body: {} }),
  };
  const host = await startHost({ keys: store, endpoints: [...routes.map((route) => appEndpoint(route)), whole] });
  return {
    store,
    call: async (key, method, path, body) => {
      const response = await fetch(host.url + path, {
        method,
        headers: { 'x-api-key': key, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      return { status: response.status, body: json, detail: (json['detail'] as string | undefined) ?? '' };
    },
    keyOf: async (tenantId, scopes, expires = null) => (await createKey(store, tenantId, scopes, expires)).secret,
    stop: async () => {
      await host.stop();
      await store.stop();
    },
  };
}

/** Bodies that no endpoint of accounts takes. */
export const BAD_BODIES: readonly unknown[] = [
  ...['', 'x', '[]', 'null', '"text"', '{"a":1,}', '['.repeat(100_000), '{"__proto__":{"name":"x"}}', '{"constructor":1}'],
  ...[{ unknown: 1 }, { name: 1 }, { name: '' }, { name: 'x'.repeat(201) }, { name: ['a'] }, { name: { $ne: 1 } }],
];
/** Ids that belong to nothing. */
export const BAD_IDS: readonly string[] = [
  ...["x' OR 1=1 --", '__proto__', 'constructor', '..%2f..%2fkeys', '%00', 'a'.repeat(2000), '1;DROP TABLE logs', '%27%22%60'],
];

import type { AdminRoute } from '../../api/admin/admin-routes.ts';
import { sessionCodeRoute } from '../../api/admin/session-codes.ts';
import { createKeyRoutes } from '../../api/account/key-routes.ts';
import { createProjectRoutes } from '../../api/account/project-routes.ts';
import { createSavedSearchRoutes } from '../../api/account/search-routes.ts';
import { sessionEndpoints } from '../../api/account/session-endpoints.ts';
import type { ChangeGate } from '../../api/app/change-rate.ts';
import { SessionTokens } from '../../api/auth/session-token.ts';
import type { Sessions } from '../../api/auth/sessions.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import type { Route } from '../../api/http/route.ts';
import { loopbackUrl } from '../loopback.ts';
import type { RoleContext } from './role.ts';

/** What tenants do with their accounts. */
export type Accounts = {
  readonly sessions: Sessions;
  readonly endpoints: readonly Endpoint[];
  readonly routes: readonly Route[];
  readonly adminRoutes: readonly AdminRoute[];
  /** Resolves once every process of this instance has what was written. */
  readonly settled: () => Promise<unknown>;
};

export function createAccounts({ config, peers }: RoleContext, control: ControlStore, admitChange: ChangeGate): Accounts {
  const sessions = { tokens: new SessionTokens(config.keys.pepper), store: control };
  const settled = (): Promise<unknown> => peers.query(`/admin/control/${control.offset.toString()}`);
  const { host, appPort } = config.http;
  return {
    sessions,
    settled,
    endpoints: sessionEndpoints({ control, sessions, settled, admitChange }),
    routes: [createKeyRoutes, createSavedSearchRoutes, createProjectRoutes].flatMap((create) => create({ control, settled })),
    adminRoutes: [sessionCodeRoute(control, peers, loopbackUrl(host, appPort))],
  };
}

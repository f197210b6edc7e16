import type { AdminRoute } from '../../api/admin/admin-routes.ts';
import { sessionCodeRoute } from '../../api/admin/session-codes.ts';
import { sessionEndpoints } from '../../api/account/session-endpoints.ts';
import { SessionTokens } from '../../api/auth/session-token.ts';
import type { Sessions } from '../../api/auth/sessions.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import { loopbackUrl } from '../loopback.ts';
import type { RoleContext } from './role.ts';

/** What tenants do with their accounts. */
export type Accounts = {
  readonly sessions: Sessions;
  readonly endpoints: readonly Endpoint[];
  readonly adminRoutes: readonly AdminRoute[];
};

export function createAccounts({ config, peers }: RoleContext, control: ControlStore): Accounts {
  const sessions = { tokens: new SessionTokens(config.keys.pepper), store: control };
  const settled = (): Promise<unknown> => peers.query(`/admin/control/${control.offset.toString()}`);
  const { host, appPort } = config.http;
  return {
    sessions,
    endpoints: sessionEndpoints({ control, sessions, settled }),
    adminRoutes: [sessionCodeRoute(control, peers, loopbackUrl(host, appPort))],
  };
}

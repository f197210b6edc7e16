import { setTimeout as sleep } from 'node:timers/promises';
import { HttpError } from '../../pipeline/core/errors.ts';
import type { Principal } from '../tenants/principal.ts';
import type { Route, RouteContext } from '../http/route.ts';
import type { Operation } from '../http/operation.ts';
import { unknownNames, withHints } from '../query/hints.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import * as described from './described.ts';
import * as read from './parameters.ts';
import type { SessionBounds } from './sessions.ts';

const BASE = '/api/v1/tenants/{tenant_id}/replay/sessions';

/** Which session is deleted, and what is needed for it. */
export type Deletion = Pick<SessionBounds, 'start' | 'retentionDays'> & {
  readonly principal: Principal;
  readonly session: string;
  readonly requestId: string;
};

export type ReplayOptions = {
  readonly runtime: QueryRuntime;
  /** Puts on the log that a session is deleted. Rejects with HttpError where it cannot. */
  readonly remove: (deletion: Deletion) => Promise<void>;
};

/** After which times a deletion looks for its session again. Milliseconds. */
const AGAIN_MS = [1000, 2000];

/** The endpoints of a tenant's session replay. */
export function createReplayRoutes({ runtime, remove }: ReplayOptions): readonly Route[] {
  /** A GET whose parameters are checked before the query is counted; those that it does not know are named. */
  const get = (
    path: string,
    [name, operation]: readonly [string, Operation],
    known: readonly string[],
    parametersOf: (context: RouteContext) => unknown,
  ): Route => ({
    operation,
    method: 'GET',
    path: `${BASE}${path}`,
    scope: 'read',
    handle: async (context) => {
      const isExport = name === 'events';
      const answer = await runtime.run(context, `replay/${name}`, parametersOf(context), { isExport });
      return withHints({ status: 200, ...answer }, unknownNames(context.query.keys(), known, 'parameter'));
    },
  });
  return [
    get('', ['sessions', described.SESSIONS], read.SESSIONS, ({ query }) => read.sessionsParameters(query)),
    get('/{session}', ['session', described.SESSION], [], ({ params }) => ({ session: read.sessionOf(params['session']) })),
    get('/{session}/events', ['events', described.EVENTS], read.EVENTS, ({ params, query }) =>
      read.eventsParameters(params['session'], query),
    ),
    get('/{session}/logs', ['logs', described.LOGS], read.SESSION_LOGS, ({ params, query }) =>
      read.sessionLogsParameters(params['session'], query),
    ),
    get('/{session}/traces', ['traces', described.TRACES], read.SESSION_TRACES, ({ params, query }) =>
      read.sessionTracesParameters(params['session'], query),
    ),
    deletion({ runtime, remove }),
  ];
}

/** `DELETE …/{session}`. */
function deletion({ runtime, remove }: ReplayOptions): Route {
  const find = async (context: RouteContext, session: string): Promise<SessionBounds> => {
    const { body } = await runtime.run(context, 'replay/find', { session }, { isFree: true });
    return JSON.parse(body as string) as SessionBounds;
  };
  /** Looks again for a session that is not there: one that was acknowledged a moment ago is stored in a moment. */
  const findSoon = async (context: RouteContext, session: string): Promise<SessionBounds> => {
    for (const ms of AGAIN_MS) {
      try {
        return await find(context, session);
      } catch (error) {
        if (!(error instanceof HttpError) || error.status !== 404) throw error;
        await sleep(ms, undefined, { signal: context.signal });
      }
    }
    return find(context, session);
  };
  return {
    method: 'DELETE',
    path: `${BASE}/{session}`,
    scope: 'write',
    operation: described.DELETE,
    handle: async (context) => {
      const session = read.sessionOf(context.params['session']);
      const { start, retentionDays } = await findSoon(context, session);
      const { principal, requestId } = context;
      await remove({ principal, requestId, session, start, retentionDays });
      return { status: 202, body: { status: 'ok', session_id: session } };
    },
  };
}

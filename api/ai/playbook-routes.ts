import { createPlaybook, deletePlaybook, playbookRefusal, playbooksOf, requirePlaybook } from '../control/playbooks.ts';
import type { ControlStore } from '../control/control-store.ts';
import type { PlaybookRecord } from '../control/records.ts';
import { pageOf } from '../http/lists.ts';
import type { Route, RouteAnswer, RouteContext } from '../http/route.ts';
import { hasAi, noAi } from '../limits/ai-credits.ts';
import { enter, modelOf, paid, type AiAccess } from './access.ts';
import * as described from './described-playbooks.ts';
import { draftSelector, type Draft } from './draft-selector.ts';
import { bodyBy } from './parameters.ts';

const BASE = '/api/v1/ai/playbooks';
const ONE = `${BASE}/{playbook_id}`;
const FEATURE = 'playbook_import';

export type PlaybookRoutesOptions = AiAccess & {
  readonly control: ControlStore;
  /** Resolves once every process of this instance has what was written. */
  readonly settled: () => Promise<unknown>;
};

/** A tenant's playbooks: `/api/v1/ai/playbooks` (docs/ai.md). */
export function createPlaybookRoutes(options: PlaybookRoutesOptions): readonly Route[] {
  const idOf = ({ params }: RouteContext): string => params['playbook_id'] ?? '';
  return [
    {
      ...{ method: 'GET', path: BASE, scope: 'read', operation: described.PLAYBOOKS },
      handle: ({ principal, query }) => {
        const all = playbooksOf(options.control, principal.tenantId).map((one) => ({ ...shown(one), characters: one.text.length }));
        return Promise.resolve({ status: 200, body: pageOf(all, described.PLAYBOOK_LIST, query) });
      },
    },
    {
      ...{ method: 'POST', path: BASE, scope: 'write', operation: described.IMPORT_PLAYBOOK },
      handle: (context) => imported(options, context),
    },
    {
      ...{ method: 'GET', path: ONE, scope: 'read', operation: described.ONE_PLAYBOOK },
      handle: async (context) => {
        const record = await Promise.resolve().then(() => requirePlaybook(options.control, context.principal.tenantId, idOf(context)));
        return { status: 200, body: { ...shown(record), text: record.text } };
      },
    },
    {
      ...{ method: 'DELETE', path: ONE, scope: 'write', operation: described.DELETE_PLAYBOOK },
      handle: async (context) => {
        await deletePlaybook(options.control, context.principal.tenantId, idOf(context));
        await options.settled();
        return { status: 204 };
      },
    },
  ];
}

/** Imports a playbook. Checks come in this order: plan, body, the model where one is needed, room, credits, places. */
async function imported(options: PlaybookRoutesOptions, context: RouteContext): Promise<RouteAnswer> {
  const { principal, signal } = context;
  const { tenantId, keyId, plan } = principal;
  if (!hasAi(plan)) throw noAi(plan);
  const { name, text, selector } = bodyBy(described.PLAYBOOK_BODY, await context.body()) as described.PlaybookBody;
  const client = selector === undefined ? modelOf(options, plan) : null;
  const refused = playbookRefusal(options.control, tenantId, { name, text });
  if (refused !== null) throw refused;
  const free = client === null ? null : enter(options, context, FEATURE);
  try {
    const { record, draft } = await paid(options, principal, FEATURE, async () => {
      const made: Draft | null = client === null ? null : await draftSelector(client, { name, text }, signal);
      const { services, detectors, rules, pattern } = (made?.selector ?? selector) as described.Selector;
      const fields = { name, text, services, detectors, rules, pattern, isDrafted: made !== null, owner: keyId };
      return { record: await createPlaybook(options.control, tenantId, fields), draft: made };
    });
    await options.settled();
    const more = client === null || draft === null ? {} : { model: client.model, sent: draft.sent, masked: draft.masked };
    return { status: 201, body: { ...shown(record), text: record.text, ...more } };
  } finally {
    free?.();
  }
}

const shown = ({ id, name, services, detectors, rules, pattern, isDrafted, owner, createdAt }: PlaybookRecord): object => ({
  ...{ id, name, selector: { services, detectors, rules, pattern }, is_drafted: isDrafted, owner, created_at: createdAt },
});

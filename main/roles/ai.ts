import { AtOnce } from '../../api/ai/at-once.ts';
import { createAiEndpoints } from '../../api/ai/endpoints.ts';
import type { PlaybookFinder } from '../../api/ai/evidence.ts';
import { ModelClient } from '../../api/ai/model-client.ts';
import { createPlaybookRoutes } from '../../api/ai/playbook-routes.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import { playbooksFor } from '../../api/control/playbooks.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import type { Route } from '../../api/http/route.ts';
import { AiCredits } from '../../api/limits/ai-credits.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { AI_CREDITS_TOPIC } from '../../pipeline/bus/records/topics.ts';
import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import type { RoleContext } from './role.ts';

/** The AI credits that tenants spend. */
function createAiCredits({ config, log, registerCheck }: RoleContext): AiCredits {
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-ai-credits', log });
  const logger = log.child({ component: 'AI credits' });
  const credits = new AiCredits({ log: new KafkaCompactedLog({ kafka, log: logger, topic: AI_CREDITS_TOPIC }), logger });
  registerCheck('ai credits', () => credits.ready);
  return credits;
}

/** AI: its credits, the routes of playbooks, and the endpoints that stand on others. */
export type Ai = {
  readonly credits: AiCredits;
  readonly routes: readonly Route[];
  readonly endpointsOver: (others: readonly Endpoint[]) => readonly Endpoint[];
};

/** `settled` resolves once every process of this instance has what was written. */
export function createAi(context: RoleContext, control: ControlStore, settled: () => Promise<unknown>): Ai {
  const { ai } = context.config;
  const credits = createAiCredits(context);
  const access = { model: ai === null ? null : new ModelClient({ access: ai }), credits, atOnce: new AtOnce() };
  const finder: PlaybookFinder = (tenantId, subject) => playbooksFor(control, tenantId, subject);
  return {
    credits,
    routes: createPlaybookRoutes({ ...access, control, settled }),
    endpointsOver: (others) => createAiEndpoints({ ...access, playbooksFor: finder, endpoints: others }),
  };
}

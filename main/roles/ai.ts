import { createAiEndpoints } from '../../api/ai/endpoints.ts';
import { ModelClient } from '../../api/ai/model-client.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import { AiCredits } from '../../api/limits/ai-credits.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { AI_CREDITS_TOPIC } from '../../pipeline/bus/records/topics.ts';
import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import type { RoleContext } from './role.ts';

/** The AI credits that tenants spend. */
export function createAiCredits({ config, log, registerCheck }: RoleContext): AiCredits {
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-ai-credits', log });
  const logger = log.child({ component: 'AI credits' });
  const credits = new AiCredits({ log: new KafkaCompactedLog({ kafka, log: logger, topic: AI_CREDITS_TOPIC }), logger });
  registerCheck('ai credits', () => credits.ready);
  return credits;
}

/** The AI endpoints over these others. */
export const createAi = ({ config }: RoleContext, credits: AiCredits, others: readonly Endpoint[]): readonly Endpoint[] =>
  createAiEndpoints({ model: config.ai === null ? null : new ModelClient({ access: config.ai }), credits, endpoints: others });

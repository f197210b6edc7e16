import { createAiEndpoints } from '../../api/ai/endpoints.ts';
import { ModelClient } from '../../api/ai/model-client.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import { AiCredits } from '../../api/limits/ai-credits.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { AI_CREDITS_TOPIC } from '../../pipeline/bus/records/topics.ts';
import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import type { RoleContext } from './role.ts';

/** The AI endpoints over these others, and the credits that they spend. */
export function createAi(
  { config, log, registerCheck }: RoleContext,
  others: readonly Endpoint[],
): { readonly credits: AiCredits; readonly endpoints: readonly Endpoint[] } {
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-ai-credits', log });
  const logger = log.child({ component: 'AI credits' });
  const credits = new AiCredits({ log: new KafkaCompactedLog({ kafka, log: logger, topic: AI_CREDITS_TOPIC }), logger });
  registerCheck('ai credits', () => credits.ready);
  const model = config.ai === null ? null : new ModelClient({ access: config.ai });
  return { credits, endpoints: createAiEndpoints({ model, credits, endpoints: others }) };
}

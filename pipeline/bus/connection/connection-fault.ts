import type { Config } from '../../core/config.ts';
import { ended, reasonOf } from '../../core/connection-reason.ts';

/** The sentence for an operator to whom Kafka could not be prepared; null where the error has nothing to do with reaching it. */
export function kafkaFault(error: unknown, { brokers, sasl, tls }: Pick<Config['kafka'], 'brokers' | 'sasl' | 'tls'>): string | null {
  if (!(error instanceof Error)) return null;
  const { name, code } = error as Error & { readonly code?: unknown };
  if (!name.startsWith('KafkaJS') && typeof code !== 'string') return null;
  const how = `${tls === undefined ? 'without TLS' : 'over TLS'}, ${sasl === undefined ? 'without a user' : `as ${'username' in sasl ? sasl.username : 'a token'} (${sasl.mechanism})`}`;
  return `Kafka cannot be used at ${brokers.join(', ')} (LOGWEIR_KAFKA_BROKERS), ${how}: ${ended(reasonOf(error))}`;
}

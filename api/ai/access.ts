import { HttpError, planGate } from '../../pipeline/core/errors.ts';
import { hasAi, noAi, type AiCredits, type Spender } from '../limits/ai-credits.ts';
import type { CreditFeature } from '../limits/credit-ledger.ts';
import type { AtOnce } from './at-once.ts';
import type { ModelClient } from './model-client.ts';

/** What is shared by all that uses a model. */
export type AiAccess = {
  /** Null: no model is configured. */
  readonly model: ModelClient | null;
  readonly credits: Pick<AiCredits, 'admit' | 'spend' | 'giveBack' | 'useOf'>;
  readonly atOnce: AtOnce;
};
type Asking = { readonly principal: Spender; readonly signal: AbortSignal };

/** The model. Throws HttpError: 403 where the plan has no AI, 503 where the deployment has none. */
export function modelOf({ model }: Pick<AiAccess, 'model'>, plan: Spender['plan']): ModelClient {
  if (!hasAi(plan)) throw noAi(plan);
  if (model === null) throw planGate(503, 'AI is not configured in this deployment (LOGWEIR_AI_URL, LOGWEIR_AI_MODEL).');
  return model;
}

/** Takes a place, which ends with the client too. Throws HttpError 429 where no credit is left, or no place is free. */
export function enter({ credits, atOnce }: AiAccess, { principal, signal }: Asking, feature: CreditFeature): () => void {
  credits.admit(principal, feature);
  const free = atOnce.enter(principal.tenantId);
  signal.addEventListener('abort', free, { once: true });
  return free;
}

/** Errors after which nothing was done that a credit pays for: the model did not answer, or there is no room for what was to be kept. */
const FREE: ReadonlySet<string> = new Set(['model_failed', 'conflict']);

/** Spends a credit on something, and gives it back where nothing came of it. */
export async function paid<T>(
  { credits }: Pick<AiAccess, 'credits'>,
  principal: Spender,
  feature: CreditFeature,
  work: () => Promise<T>,
): Promise<T> {
  const spent = await credits.spend(principal, feature);
  try {
    return await work();
  } catch (error) {
    if (error instanceof HttpError && FREE.has(error.slug)) await credits.giveBack(spent);
    throw error;
  }
}

import { httpErrorOf, HttpError, planGate } from '../../pipeline/core/errors.ts';
import { masked } from '../../pipeline/core/secret-masks.ts';
import type { Operation } from '../http/operation.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { appEndpoint } from '../http/endpoint.ts';
import type { RouteAnswer } from '../http/route.ts';
import { hasAi, noAi, type AiCredits } from '../limits/ai-credits.ts';
import type { CreditFeature } from '../limits/credit-ledger.ts';
import { AtOnce } from './at-once.ts';
import * as described from './described.ts';
import { evidenceOf, oneSubject } from './evidence.ts';
import type { Ending, Message, ModelClient } from './model-client.ts';
import { bodyBy, explainSchema, querySchema, type ExplainParameters, type QueryParameters } from './parameters.ts';
import { explainMessages } from './prompts.ts';
import { writeQuery } from './write-query.ts';

const BASE = '/api/v1/tenants/{tenant_id}/ai';
const EVENT_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' }; // prettier-ignore

export type AiOptions = {
  /** Null: no model is configured. */
  readonly model: ModelClient | null;
  readonly credits: Pick<AiCredits, 'admit' | 'spend' | 'giveBack' | 'useOf'>;
  /** What reads the evidence: the others of the host. */
  readonly endpoints: readonly Endpoint[];
};

/** `POST …/ai/explain`, `POST …/ai/query` and `GET …/ai/credits` (docs/ai.md). */
export function createAiEndpoints(options: AiOptions): readonly Endpoint[] {
  const service = new AiService(options);
  const post = (path: string, operation: Operation, handle: Endpoint['handle']): Endpoint => ({
    ...{ methods: ['POST'], path: `${BASE}/${path}`, errors: 'query', access: { plane: 'app', scope: 'read' }, operation, handle },
  });
  return [
    post('explain', described.EXPLAIN, (exchange) => service.explain(exchange)),
    post('query', described.QUERY, (exchange) => service.query(exchange)),
    appEndpoint({
      ...{ method: 'GET', path: `${BASE}/credits`, scope: 'read', operation: described.CREDITS },
      handle: ({ principal }) =>
        Promise.resolve({ status: 200, body: { ...options.credits.useOf(principal), is_configured: options.model !== null } }),
    }),
  ];
}

/** What the endpoints do. Checks come in the order of the interface: plan, deployment, body, credits, places. */
class AiService {
  readonly #options: AiOptions;
  readonly #atOnce = new AtOnce();

  constructor(options: AiOptions) {
    this.#options = options;
  }

  async explain(exchange: Exchange): Promise<RouteAnswer> {
    const client = this.#client(exchange);
    const parameters = bodyBy(explainSchema, await exchange.body()) as ExplainParameters;
    oneSubject(parameters);
    const feature = parameters.deep === true ? 'deep_rca' : 'explain';
    const free = this.#enter(exchange, feature);
    try {
      const evidence = await evidenceOf(exchange, parameters, this.#options.endpoints);
      const question = parameters.question === undefined ? null : masked(parameters.question);
      const sent = explainMessages(evidence.text, question?.text);
      const pieces = await this.#paid(exchange, feature, () => client.ask(sent, exchange.signal));
      const about = { model: client.model, sent, masked: evidence.masked + (question?.count ?? 0) };
      if (parameters.stream !== false) return { status: 200, headers: EVENT_HEADERS, stream: events(about, pieces, free) };
      const answer = await whole(pieces);
      free();
      return { status: 200, body: { ...answer, ...about } };
    } catch (error) {
      free();
      throw error;
    }
  }

  async query(exchange: Exchange): Promise<RouteAnswer> {
    const client = this.#client(exchange);
    const parameters = bodyBy(querySchema, await exchange.body()) as QueryParameters;
    const free = this.#enter(exchange, 'query');
    try {
      const { endpoints } = this.#options;
      const body = await writeQuery({ exchange, client, endpoints, parameters, paid: (work) => this.#paid(exchange, 'query', work) });
      return { status: 200, body };
    } finally {
      free();
    }
  }

  /** The model. Throws HttpError: 403 where the plan has no AI, 503 where the deployment has none. */
  #client({ principal }: Exchange): ModelClient {
    if (!hasAi(principal.plan)) throw noAi(principal.plan);
    if (this.#options.model === null) throw planGate(503, 'AI is not configured in this deployment (LOGWEIR_AI_URL, LOGWEIR_AI_MODEL).');
    return this.#options.model;
  }

  /** Takes a place, which ends with the client too. Throws HttpError 429 where no credit is left, or no place is free. */
  #enter({ principal, signal }: Exchange, feature: CreditFeature): () => void {
    this.#options.credits.admit(principal, feature);
    const free = this.#atOnce.enter(principal.tenantId);
    signal.addEventListener('abort', free, { once: true });
    return free;
  }

  /** Spends a credit on something, and gives it back where the model did not answer. */
  async #paid<T>({ principal }: Exchange, feature: CreditFeature, work: () => Promise<T>): Promise<T> {
    const { credits } = this.#options;
    const spent = await credits.spend(principal, feature);
    try {
      return await work();
    } catch (error) {
      if (error instanceof HttpError && error.slug === 'model_failed') await credits.giveBack(spent);
      throw error;
    }
  }
}

type About = { readonly model: string; readonly sent: readonly Message[]; readonly masked: number };

/** All of an answer. */
async function whole(pieces: AsyncGenerator<string, Ending>): Promise<{ readonly answer: string; readonly ended: Ending }> {
  let answer = '';
  for (;;) {
    const next = await pieces.next();
    if (next.done === true) return { answer, ended: next.value };
    answer += next.value;
  }
}

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** An answer as Server-Sent Events; what fails in the middle is an event too. */
async function* events(about: About, pieces: AsyncGenerator<string, Ending>, free: () => void): AsyncGenerator<string> {
  try {
    yield event('sent', about);
    for (;;) {
      const next = await pieces.next();
      if (next.done === true) {
        yield event('done', { ended: next.value });
        return;
      }
      yield event('text', next.value);
    }
  } catch (error) {
    const known = httpErrorOf(error);
    if (known === null || known.slug !== 'model_failed') throw error;
    yield event('error', { detail: known.message, status: known.status });
  } finally {
    free();
    await pieces.return('cut');
  }
}

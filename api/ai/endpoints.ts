import { httpErrorOf } from '../../pipeline/core/errors.ts';
import { masked } from '../../pipeline/core/secret-masks.ts';
import type { Operation } from '../http/operation.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { appEndpoint } from '../http/endpoint.ts';
import type { RouteAnswer } from '../http/route.ts';
import { enter, modelOf, paid, type AiAccess } from './access.ts';
import * as described from './described.ts';
import { evidenceOf, oneSubject, type Evidence, type PlaybookFinder } from './evidence.ts';
import type { Ending, Message } from './model-client.ts';
import { bodyBy, explainSchema, querySchema, type ExplainParameters, type QueryParameters } from './parameters.ts';
import { explainMessages } from './prompts.ts';
import { writeQuery } from './write-query.ts';

const BASE = '/api/v1/tenants/{tenant_id}/ai';
const EVENT_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' }; // prettier-ignore

export type AiOptions = AiAccess & {
  readonly playbooksFor: PlaybookFinder;
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

  constructor(options: AiOptions) {
    this.#options = options;
  }

  async explain(exchange: Exchange): Promise<RouteAnswer> {
    const client = modelOf(this.#options, exchange.principal.plan);
    const parameters = bodyBy(explainSchema, await exchange.body()) as ExplainParameters;
    oneSubject(parameters);
    const feature = parameters.deep === true ? 'deep_rca' : 'explain';
    const free = enter(this.#options, exchange, feature);
    try {
      const evidence = await evidenceOf(exchange, parameters, this.#options.endpoints, this.#options.playbooksFor);
      const question = parameters.question === undefined ? null : masked(parameters.question);
      const sent = explainMessages(evidence.text, question?.text);
      const pieces = await paid(this.#options, exchange.principal, feature, () => client.ask(sent, exchange.signal));
      const about = { model: client.model, sent, masked: evidence.masked + (question?.count ?? 0), playbooks: evidence.playbooks };
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
    const client = modelOf(this.#options, exchange.principal.plan);
    const parameters = bodyBy(querySchema, await exchange.body()) as QueryParameters;
    const free = enter(this.#options, exchange, 'query');
    try {
      const { endpoints } = this.#options;
      const body = await writeQuery({
        exchange,
        client,
        endpoints,
        parameters,
        paid: (work) => paid(this.#options, exchange.principal, 'query', work),
      });
      return { status: 200, body };
    } finally {
      free();
    }
  }
}

type About = Omit<Evidence, 'text'> & { readonly model: string; readonly sent: readonly Message[] };

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

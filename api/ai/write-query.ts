import { HttpError } from '../../pipeline/core/errors.ts';
import { masked } from '../../pipeline/core/secret-masks.ts';
import { fenced } from '../../pipeline/core/untrusted-text.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { answerOf, MAX_PART_CHARACTERS } from './evidence.ts';
import type { Ending, Message, ModelClient } from './model-client.ts';
import type { QueryParameters } from './parameters.ts';
import { queryIn, queryMessages, repairMessages } from './prompts.ts';

/** A query that was wrong is repaired once. */
const MOST_ROUNDS = 2;

type Work = {
  readonly exchange: Exchange;
  readonly client: ModelClient;
  readonly endpoints: readonly Endpoint[];
  readonly parameters: QueryParameters;
  /** Spends the credit on what is done inside. */
  readonly paid: (work: () => Promise<Written>) => Promise<Written>;
};
type Written = { readonly query: string; readonly explain: unknown; readonly rounds: number; readonly sent: readonly Message[] };

/** Has the model write a query, and checks that it is one: it was parsed and planned for the window, and nothing was read. Throws HttpError. */
export async function writeQuery({ exchange, client, endpoints, parameters, paid }: Work): Promise<object> {
  const { question, start, end } = parameters;
  const facets = await answerOf(exchange, { operation: 'listFacets', query: { query: '*', start, end, limit: '5' } }, endpoints);
  const clean = masked(facets);
  const wanted = masked(question);
  const first = queryMessages(wanted.text, fenced(clean.text.slice(0, MAX_PART_CHARACTERS)).text);
  const written = await paid(async () => {
    let sent = first;
    for (let round = 1; ; round += 1) {
      const query = queryIn(await textOf(await client.ask(sent, exchange.signal)));
      const planned = await plan(exchange, endpoints, { query, start, end });
      if ('explain' in planned) return { query, explain: planned.explain, rounds: round, sent };
      if (round === MOST_ROUNDS) throw new HttpError(502, 'model_failed', `The model wrote no query that is LogsQL. ${planned.fault}`);
      sent = [...sent, ...repairMessages(query, fenced(planned.fault).text)];
    }
  });
  return { ...written, start, end, model: client.model, masked: clean.count + wanted.count };
}

/** How a query would run, or what is wrong with it. */
async function plan(
  exchange: Exchange,
  endpoints: readonly Endpoint[],
  body: { readonly query: string; readonly start: string; readonly end: string },
): Promise<{ readonly explain: unknown } | { readonly fault: string }> {
  try {
    const text = await answerOf(exchange, { operation: 'searchEntries', query: { explain: 'true' }, body }, endpoints);
    return { explain: (JSON.parse(text) as { readonly explain: unknown }).explain };
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return { fault: error.message };
    throw error;
  }
}

/** All of an answer. */
export async function textOf(pieces: AsyncGenerator<string, Ending>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

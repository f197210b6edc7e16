import type { Texts } from '../http/answer-compression.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { LiveTails } from '../limits/live-tails.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import { readArguments, timeoutOf } from './arguments.ts';

/**
 * `/select/logsql/tail`: entries as JSON lines as they come (https://docs.victoriametrics.com/victorialogs/querying/#live-tailing).
 * Each look for new ones counts as a query of the key; where these are used up the tail waits. It ends with the client, when its key
 * is not let in any more, and with the process.
 */
export const tailEndpoint = (runtime: QueryRuntime, tails: LiveTails): Endpoint => ({
  methods: ['GET', 'POST'],
  path: '/select/logsql/tail',
  errors: 'text',
  access: { plane: 'app', scope: 'read' },
  handle: async (exchange) => {
    const parameters = await readArguments(exchange);
    const leave = tails.enter(exchange.principal);
    try {
      const { stream } = await runtime.follow(exchange, 'select/tail', [...parameters], {
        check: () => {
          exchange.checkKey();
        },
        signal: AbortSignal.any([exchange.signal, tails.ending]),
        timeoutMs: timeoutOf(parameters),
      });
      // also where nobody comes to read the answer
      exchange.signal.addEventListener('abort', leave);
      if (exchange.signal.aborted) leave();
      return { status: 200, stream: leaving(stream ?? [], leave, tails.ending) };
    } catch (error) {
      leave();
      throw error;
    }
  },
});

/** The texts, which end in order with the process. */
async function* leaving(texts: Texts, leave: () => void, ending: AbortSignal): AsyncGenerator<string | Uint8Array> {
  try {
    yield* texts;
  } catch (error) {
    if (!ending.aborted) throw error;
  } finally {
    leave();
  }
}

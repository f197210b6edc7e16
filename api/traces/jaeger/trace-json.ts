import type { TraceSpans } from '../read-traces.ts';
import { adjusted } from './adjust.ts';
import { jaegerSpan, jaegerTraceId, Processes } from './span-json.ts';

/** Spans of a piece of an answer. */
const PIECE = 500;

/** A trace in Jaeger's JSON, in pieces. What Jaeger changes and warns of, unless it is asked for `raw`, is known of a trace that is held as a whole. */
export async function* tracePieces({ bounds, isWhole, spans }: TraceSpans, raw: boolean): AsyncGenerator<string> {
  const processes = new Processes();
  yield `{"traceID":"${jaegerTraceId(bounds.id)}","spans":[`;
  let comma = '';
  for await (const some of spans) {
    const all = isWhole && !raw ? adjusted(some) : some.map((span) => ({ span, warnings: [] }));
    for (let at = 0; at < all.length; at += PIECE) {
      yield comma + all.slice(at, at + PIECE).map(({ span, warnings }) => JSON.stringify(jaegerSpan(span, processes, warnings))).join(','); // prettier-ignore
      comma = ',';
    }
  }
  yield `],"processes":${processes.json},"warnings":null}`;
}

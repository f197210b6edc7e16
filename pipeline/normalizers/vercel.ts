import { FixedName } from '../logs/names.ts';
import type { Draft } from '../logs/draft.ts';
import { validUtf8, type EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { refuseUnreadable, takeElements } from './shared/json-elements.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { acceptedAnswer } from './shared/answers.ts';

const MESSAGE = new FixedName('message');
/** The ids of a trace, as Vercel names them once or twice over, and as a field is named here. */
const IDS = [
  { field: new FixedName('trace_id'), sent: [new FixedName('traceId'), new FixedName('trace.id')] },
  { field: new FixedName('span_id'), sent: [new FixedName('spanId'), new FixedName('span.id')] },
] as const;
/** The message of a request's record without one: method, path and status; of each the first that exists. */
const REQUEST = [['proxy.method'], ['proxy.path', 'path'], ['proxy.statusCode', 'statusCode']].map((names) =>
  names.map((text) => new FixedName(text)),
);

/**
 * Vercel's log drains (https://vercel.com/docs/drains/reference/logs): an array of records, or NDJSON. Records of static files, edge
 * requests and redirects have no message: they get "METHOD path status".
 */
export const vercel: Normalizer = {
  name: 'vercel',
  signal: LOGS,
  paths: ['/api/v1/drain/vercel'],
  methods: ['POST'],
  keyInQuery: true,

  normalize(request: IngestRequest, out: EntryWriter): void {
    const body = validUtf8(request.body);
    let readable = 0;
    const object = (at: number, end: number): number => {
      const draft = out.begin(body, at, end);
      const after = out.readObject(at, end);
      if (after < 0) return after;
      readable += 1;
      for (const { field, sent } of IDS) {
        for (const fixed of sent) {
          const index = draft.find(fixed.in(draft.names));
          if (index >= 0) draft.rename(index, field.in(draft.names));
        }
      }
      out.end(draft.find(MESSAGE.in(draft.names)) >= 0 ? '' : requestText(draft));
      return after;
    };
    takeElements(body, out, { object });
    refuseUnreadable(body, out, readable);
  },

  ack(request: IngestRequest, written: Written): Ack {
    const answer = acceptedAnswer(request, written);
    return { ...answer, headers: { ...answer.headers, ...verifyHeader(request.query) } };
  },
};

/** "METHOD path status" of what the record has; empty where it has nothing of it. */
function requestText(draft: Draft): string {
  const parts = REQUEST.map((names) => {
    const found = names.map((fixed) => draft.find(fixed.in(draft.names))).find((index) => index >= 0);
    return found === undefined ? '' : draft.text(found);
  });
  return parts.filter((part) => part !== '').join(' ');
}

/** The header that proves to Vercel who owns the endpoint, by the value that the drain's URL has in `?verify=`. */
export function verifyHeader(query: URLSearchParams): Readonly<Record<string, string>> {
  const value = query.get('verify') ?? '';
  return /^[\x21-\x7e]{1,256}$/.test(value) ? { 'x-vercel-verify': value } : {};
}

import { invalidBody } from '../core/errors.ts';
import { validUtf8 } from '../logs/writer.ts';
import { SPANS } from '../traces/span.ts';
import type { SpansWriter } from '../traces/spans-writer.ts';
import { OPEN_ARRAY, OPEN_OBJECT } from '../wire/bytes.ts';
import { skipSpace, skipValue } from '../wire/json-tokens.ts';
import { walkArray } from '../wire/json-walk.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { rejectedHeader } from './shared/answers.ts';
import { jsonErrorReason, NO_OBJECT } from './shared/json-error.ts';
import { takeZipkinSpan } from './zipkin/span.ts';

/** Deepest nesting that a span of Zipkin has: its annotations and endpoints. */
const MOST_DEPTH = 64;

/** Zipkin's JSON, version 2 (https://zipkin.io/zipkin-api/#/default/post_spans): an array of spans, answered by 202 without a body. */
export const zipkin: Normalizer<SpansWriter> = {
  name: 'zipkin',
  signal: SPANS,
  paths: ['/api/v2/spans'],
  batchSettings: 'in a reporter of Zipkin `messageMaxBytes`, or fewer spans in a batch',
  methods: ['POST'],

  normalize({ body: sent }: IngestRequest, out: SpansWriter): void {
    const body = validUtf8(sent);
    const end = body.length;
    const start = skipSpace(body, 0, end);
    if (start === end) throw invalidBody('The body is empty; send a JSON array of spans.');
    if (body[start] !== OPEN_ARRAY)
      throw invalidBody("The body is not a JSON array of spans; of Zipkin's formats JSON version 2 is taken.");
    const after = walkArray(body, start, end, (at) => {
      const next = skipValue(body, at, end);
      if (next < 0) return next;
      if (body[at] !== OPEN_OBJECT) out.reject(NO_OBJECT, body, at, next);
      else if (skipValue(body, at, next, MOST_DEPTH) < 0) out.reject(`nested deeper than ${String(MOST_DEPTH)} levels`, body, at, next);
      else takeZipkinSpan(JSON.parse(body.toString('utf8', at, next)), out, body, at, next);
      return next;
    });
    if (after < 0) throw invalidBody(`The body is ${jsonErrorReason(body, 0, end)}.`);
    const rest = skipSpace(body, after, end);
    if (rest < end) throw invalidBody(`After the spans, at byte ${String(rest)}: expected the end of the body.`);
  },

  ack: (_request: IngestRequest, written: Written): Ack => ({ status: 202, headers: rejectedHeader(written) }),
};

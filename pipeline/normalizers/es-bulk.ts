import { invalidBody } from '../core/errors.ts';
import { skipSpace, skipValue } from '../wire/json-tokens.ts';
import { validUtf8, type EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { endOfLine, startsWith } from './shared/bytes.ts';
import { jsonErrorDetail, NO_OBJECT } from './shared/json-error.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';

/** The action line that nearly every shipper of logs writes. */
const CREATE = Buffer.from('{"create":{}}');
const ACTION = /^\s*\{\s*"(create|index|update|delete)"\s*:/;

/** Elastic's own clients count by `items`, so they get the full list (docs/formats.md). */
const ELASTIC_CLIENTS =
  /elasticsearch-js|elasticsearch-py|elastic-transport|go-elasticsearch|filebeat|metricbeat|packetbeat|winlogbeat|auditbeat|heartbeat|journalbeat|functionbeat|elastic-agent|logstash/i;

/**
 * Elasticsearch's bulk API (https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk): pairs of an action line
 * and a document. `create` and `index` add an entry; documents of `update` and actions `delete` are rejected one by one.
 */
export const esBulk: Normalizer = {
  name: 'es_bulk',
  signal: LOGS,
  paths: ['/insert/elasticsearch/_bulk', '/_bulk', '/insert/elasticsearch/:index/_bulk', '/:index/_bulk'],
  batchSettings:
    '`bulk_max_size` in Filebeat, `pipeline.batch.size` in Logstash, `batch.max_bytes` in Vector, `flush.bytes` of the exporter in the OpenTelemetry Collector',
  methods: ['POST', 'PUT'],
  answerHeaders: { 'X-Elastic-Product': 'Elasticsearch' },

  normalize(request: IngestRequest, out: EntryWriter): void {
    const body = validUtf8(request.body);
    // Telegraf's fields have the name of their measurement before them
    out.takesNestedMessage = true;
    let readable = 0;
    let at = 0;
    for (let line = 1; ; line++) {
      // blank lines between pairs are skipped: rsyslog puts one after every document
      const start = skipSpace(body, at, body.length);
      if (start >= body.length) break;
      const actionEnd = endOfLine(body, start);
      const action =
        startsWith(body, start, CREATE) && actionEnd - start <= CREATE.length + 1 ? 'create' : readAction(body, start, actionEnd, line);
      at = actionEnd + 1;
      if (action === 'delete') {
        out.reject('the action "delete" is not supported: logs are only added', body, start, actionEnd);
        continue;
      }
      // nor do blank lines inside a pair keep its halves apart
      at = afterBlankLines(body, at);
      const documentEnd = endOfLine(body, at);
      if (at >= body.length) throw invalidBody(`The action of the last line has no document.`);
      if (readDocument(body, at, documentEnd, action, out)) readable += 1;
      at = documentEnd + 1;
    }
    if (out.total === 0) throw invalidBody('The body is empty; send pairs of an action line and a document.');
    if (readable === 0) throw invalidBody(`Not one document could be read: ${out.rejected.first[0]?.reason ?? ''}.`);
  },

  ack(request: IngestRequest, { rejected, total }: Written, tookMs: number): Ack {
    const full = rejected.count > 0 || request.query.get('items') === 'true' || ELASTIC_CLIENTS.test(request.header('user-agent'));
    const head = `{"took":${String(Math.round(tookMs))},"errors":${String(rejected.count > 0)},"items":[`;
    if (!full) return { status: 200, body: `${head}]}` };
    const answer = bulkAnswer(head, actionsOf(validUtf8(request.body), total), rejected);
    if (total <= ITEMS_IN_A_PIECE) return { status: 200, body: [...answer].join('') };
    return { status: 200, headers: { 'Content-Type': 'application/json' }, stream: answer };
  },
};

/** Behind lines without a character. */
function afterBlankLines(body: Buffer, at: number): number {
  let i = at;
  while (body[i] === 0x0a || (body[i] === 0x0d && body[i + 1] === 0x0a)) i += body[i] === 0x0a ? 1 : 2;
  return i;
}

/** The action of a line that is not the usual one. */
function readAction(body: Buffer, start: number, end: number, line: number): string {
  const after = skipValue(body, start, end);
  const text = body.toString('utf8', start, end);
  const action = after >= 0 && skipSpace(body, after, end) === end ? ACTION.exec(text)?.[1] : undefined;
  if (action === undefined) {
    const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
    throw invalidBody(
      `Action ${String(line)}, ${JSON.stringify(shown)}, is not one of {"create":…}, {"index":…}, {"update":…}, {"delete":…}.`,
    );
  }
  return action;
}

/** Takes one document; false where it is not a JSON object. */
function readDocument(body: Buffer, start: number, end: number, action: string, out: EntryWriter): boolean {
  if (action === 'update') {
    out.reject('the action "update" is not supported: logs are only added', body, start, end);
    return true;
  }
  const at = skipSpace(body, start, end);
  const isObject = body[at] === 0x7b && at < end;
  if (isObject && out.object(body, at, end, true) >= 0) return true;
  out.reject(NO_OBJECT, body, start, end, isObject ? () => jsonErrorDetail(body, at, end) : null);
  return false;
}

/** An answer of two million items would be some 200 MB: more than this number are streamed. */
const ITEMS_IN_A_PIECE = 500;

const ACTIONS = ['create', 'index', 'update', 'delete'];

/** The action of each entry, by its place in `ACTIONS`. The body is one that `normalize` has read; it need not be kept. */
function actionsOf(body: Buffer, total: number): Uint8Array {
  const actions = new Uint8Array(total);
  let at = 0;
  for (let index = 0; index < total; index++) {
    at = skipSpace(body, at, body.length);
    const action = actionAt(body, at);
    actions[index] = action;
    at = endOfLine(body, at) + 1;
    if (ACTIONS[action] !== 'delete') at = endOfLine(body, afterBlankLines(body, at)) + 1;
  }
  return actions;
}

/** The JSON of an answer, in pieces: `head`, and one item for each entry, in order, under the name of its action. */
function* bulkAnswer(head: string, actions: Uint8Array, rejected: Written['rejected']): Generator<string> {
  let piece = head;
  for (const [index, action] of actions.entries()) {
    const reason = rejected.reasonOf(index);
    const outcome = reason === null ? '201' : `400,"error":{"type":"document_parsing_exception","reason":${JSON.stringify(reason)}}`;
    piece += `${index === 0 ? '' : ','}{"${ACTIONS[action] as string}":{"_index":"logs","_id":"","status":${outcome}}}`;
    if ((index + 1) % ITEMS_IN_A_PIECE > 0) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]}`;
}

/** The place in `ACTIONS` of a line's action, which is known to be one of them: no two begin with the same letter. */
function actionAt(body: Buffer, at: number): number {
  const letter = body[skipSpace(body, at + 1, body.length) + 1];
  return letter === 0x69 ? 1 : letter === 0x75 ? 2 : letter === 0x64 ? 3 : 0;
}

import { invalidBody } from '../core/errors.ts';
import { skipSpace, skipValue } from '../core/json-tokens.ts';
import { validUtf8, type EntryWriter } from '../logs/writer.ts';
import { endOfLine, startsWith } from './shared/bytes.ts';
import { jsonErrorReason } from './shared/json-error.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';

/** The action line that nearly every shipper of logs writes. */
const CREATE = Buffer.from('{"create":{}}');
const ACTION = /^\s*\{\s*"(create|index|update|delete)"\s*:/;

/** Elastic's own clients count by `items`, so they get the full list (docs/ingest.md). */
const ELASTIC_CLIENTS =
  /elasticsearch-js|elasticsearch-py|elastic-transport|go-elasticsearch|filebeat|metricbeat|packetbeat|winlogbeat|auditbeat|heartbeat|journalbeat|functionbeat|elastic-agent|logstash/i;

/**
 * Elasticsearch's bulk API (https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk): pairs of an action line
 * and a document. `create` and `index` add an entry; documents of `update` and actions `delete` are rejected one by one.
 */
export const esBulk: Normalizer = {
  name: 'es_bulk',
  paths: ['/insert/elasticsearch/_bulk', '/_bulk', '/insert/elasticsearch/:index/_bulk', '/:index/_bulk'],
  methods: ['POST', 'PUT'],
  answerHeaders: { 'X-Elastic-Product': 'Elasticsearch' },

  normalize(request: IngestRequest, out: EntryWriter): void {
    const body = validUtf8(request.body);
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
      const documentEnd = endOfLine(body, at);
      if (at >= body.length) throw invalidBody(`The action of the last line has no document.`);
      if (readDocument(body, at, documentEnd, action, out)) readable += 1;
      at = documentEnd + 1;
    }
    if (out.total === 0) throw invalidBody('The body is empty; send pairs of an action line and a document.');
    if (readable === 0) throw invalidBody(`Not one document could be read: ${out.rejected[0]?.reason ?? ''}.`);
  },

  ack(request: IngestRequest, { rejected, total }: Written, tookMs: number): Ack {
    const full = rejected.length > 0 || request.query.get('items') === 'true' || ELASTIC_CLIENTS.test(request.header('user-agent'));
    const items = full ? bulkItems(validUtf8(request.body), rejected, total) : '[]';
    return { status: 200, body: `{"took":${String(Math.round(tookMs))},"errors":${String(rejected.length > 0)},"items":${items}}` };
  },
};

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

/** Takes one document; false where it is no JSON object. */
function readDocument(body: Buffer, start: number, end: number, action: string, out: EntryWriter): boolean {
  if (action === 'update') {
    out.reject('the action "update" is not supported: logs are only added', body, start, end);
    return true;
  }
  const at = skipSpace(body, start, end);
  const isObject = body[at] === 0x7b && at < end;
  if (isObject && out.object(body, at, end, true) >= 0) return true;
  out.reject(isObject ? jsonErrorReason(body, at, end) : 'not a JSON object', body, start, end);
  return false;
}

/** One item for each entry, in order, under the name of its action. The body is one that `normalize` has read. */
function bulkItems(body: Buffer, rejected: Written['rejected'], total: number): string {
  const items: string[] = [];
  let next = 0;
  let at = 0;
  for (let index = 0; index < total; index++) {
    at = skipSpace(body, at, body.length);
    const action = actionAt(body, at);
    at = endOfLine(body, at) + 1;
    if (action !== 'delete') at = endOfLine(body, at) + 1;
    const refused = rejected[next]?.index === index ? rejected[next++] : undefined;
    const outcome =
      refused === undefined ? '201' : `400,"error":{"type":"document_parsing_exception","reason":${JSON.stringify(refused.reason)}}`;
    items.push(`{"${action}":{"_index":"logs","_id":"","status":${outcome}}}`);
  }
  return `[${items.join(',')}]`;
}

/** The action of a line that is known to be one: no two begin with the same letter. */
function actionAt(body: Buffer, at: number): string {
  const letter = body[skipSpace(body, at + 1, body.length) + 1];
  return letter === 0x69 ? 'index' : letter === 0x75 ? 'update' : letter === 0x64 ? 'delete' : 'create';
}

import { OPEN_ARRAY } from '../wire/bytes.ts';
import { skipString, skipValue } from '../wire/json-tokens.ts';
import { stringAt, walkArray, walkObject } from '../wire/json-walk.ts';
import { validUtf8, type EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { LogEvents } from './cloudwatch/events.ts';
import { InnerGzip, isGzip } from './shared/inner-gzip.ts';
import { refuseUnreadable, takeElements } from './shared/json-elements.ts';
import { MemberSpans } from './shared/member-spans.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { rejectedHeader } from './shared/answers.ts';

/** What the records of a request may decompress to together, as a multiple of the body's cap: log data shrinks to a tenth or so. */
const INFLATED_FACTOR = 8;

/** The members of a request, and of a record, that are looked at. */
const envelope = new MemberSpans(['records', 'awslogs']);
const dataOf = new MemberSpans(['data']);

/** Standard base64, as Firehose writes it. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * CloudWatch Logs through Amazon Data Firehose
 * (https://docs.aws.amazon.com/firehose/latest/dev/httpdeliveryrequestresponse.html,
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html): records with base64 of gzipped or plain
 * subscription messages, or of lines. A bare subscription message and a Lambda function's `{"awslogs":{"data":…}}` are taken too.
 */
export const cloudwatch: Normalizer = {
  name: 'cloudwatch',
  signal: LOGS,
  paths: ['/api/v1/cloudwatch'],
  methods: ['POST'],
  errors: 'firehose',

  normalize(request: IngestRequest, out: EntryWriter): void {
    const body = validUtf8(request.body);
    const events = new LogEvents(out, request.maxBytes, commonAttributes(request));
    const gzip = new InnerGzip(request.maxBytes * INFLATED_FACTOR);

    const record = (at: number, after: number): void => {
      const bytes = decodeBase64(body, at, after);
      const data = bytes === null ? 'the data of the record is not base64' : isGzip(bytes) ? gzip.inflate(bytes) : bytes;
      if (typeof data === 'string') out.reject(data, body, at, after);
      else events.take(data);
    };
    const withData = (from: number, to: number): number => {
      const after = dataOf.read(body, from, to);
      if (after < 0 || (dataOf.at[0] as number) < 0) {
        const end = skipValue(body, from, to);
        out.reject('the record has no data', body, from, end);
        return end;
      }
      record(dataOf.at[0] as number, dataOf.after[0] as number);
      return after;
    };
    const object = (at: number, end: number): number => {
      const after = envelope.read(body, at, end);
      const [records, awslogs] = envelope.at as unknown as [number, number];
      if (after < 0) return after;
      if (body[records] === OPEN_ARRAY) walkArray(body, records, after, withData);
      else if (awslogs >= 0) withData(awslogs, after);
      else events.message(body, at, after);
      return after;
    };
    takeElements(body, out, { object });
    refuseUnreadable(body, out, events.readable);
  },

  ack(request: IngestRequest, written: Written): Ack {
    const requestId = request.header('x-amz-firehose-request-id') || requestIdIn(request.body);
    const timestamp = Number(request.receivedAt / 1_000_000n);
    return { status: 200, headers: rejectedHeader(written), body: { requestId, timestamp } };
  },
};

/** The decoded bytes of the JSON string at `body[at..after)`; null where it is not base64. */
function decodeBase64(body: Buffer, at: number, after: number): Buffer | null {
  if (body[at] !== 0x22) return null;
  let text = body.toString('latin1', at + 1, after - 1);
  if (text.includes('\\')) text = stringAt(body, at, after);
  return BASE64.test(text) ? Buffer.from(text, 'base64') : text === '' ? Buffer.alloc(0) : null;
}

/** The `requestId` of a Firehose request whose header lacks it; empty where the body has none either. */
function requestIdIn(body: Buffer): string {
  let id = '';
  walkObject(body, body.indexOf(0x7b), body.length, (name, from, to) => {
    if (name !== 'requestId' || body[from] !== 0x22) return skipValue(body, from, to);
    const after = skipString(body, from, to);
    if (after >= 0) id = stringAt(body, from, after);
    return -1;
  });
  return id;
}

/** The attributes that an operator gave to all records of a delivery stream; what is no such JSON object is none. */
function commonAttributes(request: IngestRequest): readonly (readonly [string, string])[] {
  try {
    const header: unknown = JSON.parse(request.header('x-amz-firehose-common-attributes') || '{}');
    const { commonAttributes: attributes } = header as { commonAttributes?: unknown };
    if (typeof attributes !== 'object' || attributes === null) return [];
    return Object.entries(attributes).flatMap(([name, value]): [string, string][] => (typeof value === 'string' ? [[name, value]] : []));
  } catch {
    return [];
  }
}

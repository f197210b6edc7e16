import { OPEN_OBJECT, QUOTE } from '../wire/bytes.ts';
import { invalidBody } from '../core/errors.ts';
import { skipSpace } from '../wire/json-tokens.ts';
import { stringAt } from '../wire/json-walk.ts';
import { FixedName } from '../logs/names.ts';
import type { Draft } from '../logs/draft.ts';
import { validUtf8, type EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { hecAnswer } from './hec/answer.ts';
import { takeElements } from './shared/json-elements.ts';
import { putJsonToken, scalarText } from './shared/json-token-field.ts';
import { MemberSpans } from './shared/member-spans.ts';
import type { IngestRequest, Normalizer } from './normalizer.ts';

const MESSAGE = new FixedName('_msg');
/** What the envelope states about an event's origin; it wins over members of the event. */
const METADATA = [new FixedName('host'), new FixedName('source'), new FixedName('sourcetype'), new FixedName('index')];
/** The most informative members of an event without a message. Splunk's own loggers nest what is logged in `message`. */
const MESSAGE_FIELDS = ['message.event', 'message.message', 'message.msg', 'event'].map((text) => new FixedName(text));

const NO_EVENT = 'the event field is missing';
const BLANK_EVENT = 'the event field is blank';
const BAD_FIELDS = 'the member "fields" is not an object';
const BAD_TIME = '_time is not a time';
/** Splunk's numbers for these reasons; every other one is 6, "Invalid data format". */
const CODES: Readonly<Record<string, number>> = { [NO_EVENT]: 12, [BLANK_EVENT]: 13, [BAD_FIELDS]: 15 };

/** The members of an envelope; those from METADATA_AT on are the metadata. */
const envelope = new MemberSpans(['time', 'event', 'fields', ...METADATA.map(({ text }) => text)]);
const TIME = 0;
const EVENT = 1;
const FIELDS = 2;
const METADATA_AT = 3;

/**
 * Splunk's HTTP Event Collector, events
 * (https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/format-events-for-http-event-collector):
 * envelopes one after the other or in an array. An event that cannot be taken is rejected by itself; where not one can be read the
 * answer is Splunk's error for the first.
 */
export const hecEvent: Normalizer = {
  name: 'hec_event',
  signal: LOGS,
  paths: [
    ...['/services/collector/event', '/services/collector', '/services/collector/event/1.0'],
    ...['/insert/splunk/services/collector/event', '/insert/splunk/services/collector', '/insert/splunk/services/collector/event/1.0'],
  ],
  batchSettings: '`max_content_length_logs` of the splunk_hec exporter, `batch.max_bytes` in Vector',
  methods: ['POST'],
  errors: 'hec',

  normalize(request: IngestRequest, out: EntryWriter): void {
    const body = validUtf8(request.body);
    if (skipSpace(body, 0, body.length) === body.length) throw invalidBody('The body is empty; send events.', { code: 5 });
    let readable = 0;
    const object = (at: number, end: number): number => {
      const after = envelope.read(body, at, end);
      if (after < 0) return after;
      const problem = takeEvent(body, at, after, out);
      if (problem === '') readable += 1;
      else if (problem !== BAD_TIME) out.reject(problem, body, at, after);
      else out.reject(BAD_TIME, body, at, after, () => clipped(body, TIME));
      return after;
    };
    takeElements(body, out, { object });
    const [first] = out.rejected.first;
    if (first !== undefined && readable === 0)
      throw invalidBody(`No event could be read: event 0: ${first.reason}.`, { code: CODES[first.reason] ?? 6, eventNumber: 0 });
  },

  ack: hecAnswer,
};

/** Takes the event of the envelope that was read; gives why the envelope is none, or nothing. */
function takeEvent(body: Buffer, at: number, after: number, out: EntryWriter): string {
  const start = envelope.at[EVENT] as number;
  const end = envelope.after[EVENT] as number;
  if (isMissing(body, EVENT)) return NO_EVENT;
  const isText = body[start] === QUOTE;
  if (isText && end === start + 2) return BLANK_EVENT;
  const hasFields = !isMissing(body, FIELDS);
  if (hasFields && body[envelope.at[FIELDS] as number] !== OPEN_OBJECT) return BAD_FIELDS;
  const draft = out.begin(body, at, after);
  if (body[start] === OPEN_OBJECT) out.readObject(start, end);
  else putJsonToken(draft, MESSAGE.in(draft.names), start, end);
  if (draft.count === 0 && draft.problem === '') return BLANK_EVENT;
  if (hasFields) out.readObject(envelope.at[FIELDS] as number, envelope.after[FIELDS] as number);
  putMetadata(draft);
  if (isText && body[start + 1] === OPEN_OBJECT) {
    const line = Buffer.from(stringAt(body, start, end));
    draft.readLine(line, 0, line.length);
  }
  if (!takeTime(body, out)) return BAD_TIME;
  out.end(isText ? '' : messageText(draft));
  return '';
}

/** True where the envelope lacks the member, or has it as null. */
function isMissing(body: Buffer, member: number): boolean {
  const at = envelope.at[member] as number;
  return at < 0 || body[at] === 0x6e;
}

function putMetadata(draft: Draft): void {
  for (const [index, name] of METADATA.entries()) {
    const at = envelope.at[METADATA_AT + index] as number;
    if (at >= 0) putJsonToken(draft, name.in(draft.names), at, envelope.after[METADATA_AT + index] as number);
  }
}

/** Gives the entry the time of the envelope where it has one; false where that is not a valid time. */
function takeTime(body: Buffer, out: EntryWriter): boolean {
  return isMissing(body, TIME) || out.timeIsText(scalarText(body, envelope.at[TIME] as number, envelope.after[TIME] as number));
}

function clipped(body: Buffer, member: number): string {
  const at = envelope.at[member] as number;
  return body.toString('utf8', at, Math.min(envelope.after[member] as number, at + 80));
}

/** The most informative string of an event without a message; empty where there is none, and the writer then knows more. */
function messageText(draft: Draft): string {
  for (const fixed of MESSAGE_FIELDS) {
    const index = draft.find(fixed.in(draft.names));
    if (index >= 0) return draft.text(index);
  }
  return '';
}

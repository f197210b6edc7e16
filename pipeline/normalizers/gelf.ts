import { invalidBody } from '../core/errors.ts';
import { ABSENT, STRING, type Draft } from '../logs/draft.ts';
import { FixedName, type Name } from '../logs/names.ts';
import { validUtf8, type EntryWriter } from '../logs/writer.ts';
import { SYSLOG_LEVELS } from '../core/severity.ts';
import { LOGS } from '../logs/record.ts';
import { takeElements, refuseUnreadable } from './shared/json-elements.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { rejectedHeader } from './shared/answers.ts';

const MESSAGE = new FixedName('_msg');
const MSG = new FixedName('msg');
const LEVEL = new FixedName('level');
const SHORT_MESSAGE = new FixedName('short_message');
const FULL_MESSAGE = new FixedName('full_message');
const VERSION = new FixedName('version');
const ID = new FixedName('_id');
/** Names with a meaning in an entry, which an additional field does not take. */
const RESERVED = new Set(['', '_time', '_msg', '_stream', '_stream_id', 'message', 'short_message', 'full_message']);

/**
 * GELF over HTTP (https://go2docs.graylog.org/current/getting_in_log_data/gelf.html): JSON messages, one or several, with line feeds
 * or NUL bytes between them.
 */
export const gelf: Normalizer = {
  name: 'gelf',
  signal: LOGS,
  paths: ['/gelf', '/api/v1/gelf'],
  methods: ['POST'],
  keyInQuery: true,

  normalize(request: IngestRequest, out: EntryWriter): void {
    refuseCompressed(request.body);
    const body = withoutNul(validUtf8(request.body));
    let readable = 0;
    takeElements(body, out, {
      object: (at, end) => {
        const draft = out.begin(body, at, end);
        const after = out.readObject(at, end);
        if (after < 0) return after;
        readable += 1;
        out.end(toFields(draft));
        return after;
      },
    });
    refuseUnreadable(body, out, readable);
  },

  ack(_request: IngestRequest, written: Written): Ack {
    return { status: 202, headers: rejectedHeader(written) };
  },
};

/** zlib (RFC 1950) and gzip are what GELF's UDP clients send without a word; here a request names its coding. */
function refuseCompressed(body: Buffer): void {
  const head = body.length < 2 ? 0 : body.readUInt16BE(0);
  if ((head & 0x0f00) === 0x0800 && head % 31 === 0)
    throw invalidBody('The body is a zlib stream (deflate), which is not supported; use Content-Encoding gzip, zstd or snappy.');
  if (head === 0x1f8b) throw invalidBody('The body is a gzip stream, but the request has no Content-Encoding: gzip.');
}

/** NUL bytes end a message, as a line feed does. */
function withoutNul(body: Buffer): Buffer {
  let at = body.indexOf(0);
  if (at < 0) return body;
  const copy = Buffer.from(body);
  for (; at >= 0; at = copy.indexOf(0, at + 1)) copy[at] = 0x0a;
  return copy;
}

/** Turns the message's members into an entry's fields; gives the string that stands for a missing message. */
function toFields(draft: Draft): string {
  const { names } = draft;
  const message = MESSAGE.in(names);
  const short = draft.find(SHORT_MESSAGE.in(names));
  if (short >= 0) {
    // next to a message, `_msg` is the additional field `msg`
    const additional = draft.find(message);
    if (additional >= 0) draft.rename(additional, MSG.in(names));
    draft.rename(short, message);
  }
  drop(draft, VERSION.in(names));
  drop(draft, ID.in(names));
  wordLevel(draft);
  const { count } = draft;
  for (let i = 0; i < count; i++) {
    if (draft.kinds[i] !== ABSENT) stripUnderscore(draft, i);
  }
  const full = draft.find(FULL_MESSAGE.in(names));
  return full < 0 ? '' : draft.text(full);
}

function drop(draft: Draft, name: Name): void {
  const index = draft.find(name);
  if (index >= 0) draft.kinds[index] = ABSENT;
}

/** Level is a syslog severity; what is none stays as it is. */
function wordLevel(draft: Draft): void {
  const index = draft.find(LEVEL.in(draft.names));
  if (index < 0 || (draft.ends[index] as number) - (draft.starts[index] as number) > 5) return;
  const text = draft.text(index);
  const word = /^[0-7](?:\.0+)?$/.test(text) ? SYSLOG_LEVELS[Number(text)] : undefined;
  if (word !== undefined) draft.replace(index, STRING, `"${word}"`);
}

/** The additional field `_x` is the field `x`, unless the message has one of that name. */
function stripUnderscore(draft: Draft, index: number): void {
  const { text } = draft.fieldNames[index] as Name;
  if (text.charCodeAt(0) !== 0x5f || text === '_msg') return;
  const own = text.slice(1);
  if (RESERVED.has(own)) return;
  const name = draft.names.of(own);
  if (draft.find(name) < 0) draft.rename(index, name);
}

import { invalidBody } from '../core/errors.ts';
import { MAX_NAME_BYTES } from './names.ts';
import type { FieldRules } from './field-rules.ts';
import type { Envelope } from '../intake/rows.ts';

/** Most names that a request gives for one purpose. */
const MAX_NAMES = 100;
/** Characters of `extra_fields`, which each entry of a request gets. */
const MAX_EXTRA = 4096;

/** The stream labels that the request names by header or query parameter; null where it names none. */
export function streamFieldsOf(envelope: Envelope): readonly string[] | null {
  const text = envelope.header('x-stream-fields') || envelope.header('vl-stream-fields') || (envelope.query.get('_stream_fields') ?? '');
  const names = namesIn(text);
  return names.length === 0 ? null : names;
}

/**
 * What the request says of the fields of its entries, by parameter or header, as VictoriaLogs has it
 * (https://docs.victoriametrics.com/victorialogs/data-ingestion/#http-parameters); null where it says nothing.
 * Throws HttpError 400 for more than 100 names, a name that no field may have, an extra field without a
 * value, and extra fields of more than 4,096 characters.
 */
export function fieldRulesOf(envelope: Envelope): FieldRules | null {
  const messages = given(envelope, '_msg_field', 'vl-msg-field');
  const times = given(envelope, '_time_field', 'vl-time-field');
  const ignored = given(envelope, 'ignore_fields', 'vl-ignore-fields');
  const pairs = given(envelope, 'extra_fields', 'vl-extra-fields');
  const length = pairs.reduce((sum, pair) => sum + pair.length, 0);
  if (length > MAX_EXTRA) throw invalidBody(`extra_fields has ${String(length)} characters; at most ${String(MAX_EXTRA)} are taken.`);
  const extra = pairs.map(pairOf);
  if (messages.length + times.length + ignored.length + extra.length === 0) return null;
  return { messages, times, ignored, extra };
}

function given(envelope: Envelope, parameter: string, header: string): readonly string[] {
  const names = namesIn(envelope.query.get(parameter) ?? envelope.header(header));
  if (names.length > MAX_NAMES)
    throw invalidBody(`${parameter} names ${String(names.length)} fields; at most ${String(MAX_NAMES)} are read.`);
  const long = names.find((name) => Buffer.byteLength(name.split('=', 1)[0] ?? '') > MAX_NAME_BYTES);
  if (long !== undefined)
    throw invalidBody(`${parameter} has a name of more than ${String(MAX_NAME_BYTES)} bytes: ${JSON.stringify(long.slice(0, 64))}…`);
  return names;
}

/** `name=value`. */
function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at <= 0) throw invalidBody(`extra_fields has ${JSON.stringify(text.slice(0, 64))}; write name=value, with commas between them.`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function namesIn(text: string): readonly string[] {
  if (text === '') return NONE;
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}

const NONE: readonly string[] = [];

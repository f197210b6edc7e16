import { lengthTag, varintTag } from '../../wire/protobuf.ts';
import { isJsonBody } from '../shared/body-encoding.ts';
import type { Ack, IngestRequest, Written } from '../normalizer.ts';

/**
 * The answer of an OTLP path, in the request's own encoding: an Export…ServiceResponse whose partial success (field 1) counts the
 * rejections (field 1) and states the first reason (field 2). `rejectedName`: the count's name in JSON. `what`: the elements' name.
 */
export function exportAnswer(request: IngestRequest, { rejected, total }: Written, rejectedName: string, what: string): Ack {
  const [first] = rejected.first;
  const message =
    first === undefined
      ? ''
      : `${String(rejected.count)} of ${String(total)} ${what} were rejected; the first, number ${String(first.index)}: ${first.reason}`;
  if (isJsonBody(request)) {
    const partialSuccess = message === '' ? {} : { [rejectedName]: String(rejected.count), errorMessage: message };
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body: { partialSuccess } };
  }
  return { status: 200, headers: { 'Content-Type': 'application/x-protobuf' }, body: partialSuccess(rejected.count, message) };
}

function partialSuccess(rejected: number, message: string): Buffer {
  if (message === '') return Buffer.alloc(0);
  const text = Buffer.from(message);
  const inner = Buffer.concat([Buffer.from([varintTag(1), ...varint(rejected), lengthTag(2), ...varint(text.length)]), text]);
  return Buffer.concat([Buffer.from([lengthTag(1), ...varint(inner.length)]), inner]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

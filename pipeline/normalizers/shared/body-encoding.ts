import { OPEN_OBJECT } from '../../wire/bytes.ts';
import type { IngestRequest } from '../normalizer.ts';
import { afterByteOrderMark } from './bytes.ts';

/** The first field of a protobuf message, and a line feed. */
const FIRST_FIELD = 0x0a;

/**
 * Of a format that has both: true where the body is JSON, false where it is protobuf, whose messages here all begin with their
 * field 1. The media type decides where the first bytes could be either (0x0a 0x7b is a field of 123 bytes too), or neither.
 */
export function isJsonBody({ body, contentType }: Pick<IngestRequest, 'body' | 'contentType'>): boolean {
  const first = firstOf(body);
  if (contentType.includes('json')) return body[0] !== FIRST_FIELD || first === OPEN_OBJECT || first === undefined;
  return body[0] !== FIRST_FIELD && first === OPEN_OBJECT;
}

/** The first byte behind a byte order mark and white space. */
function firstOf(body: Buffer): number | undefined {
  let at = afterByteOrderMark(body, 0);
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1;
  return body[at];
}

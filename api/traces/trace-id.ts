import { invalidParameter } from '../../pipeline/core/errors.ts';

/** Hex digits of the id of a trace. */
const DIGITS = 32;
const ZEROS = '0'.repeat(DIGITS);

/** The id of a trace as 32 lower case hex digits: of 16 or 32 digits in any case. Throws HttpError 400. */
export function readTraceId(text: string | undefined): string {
  const id = text !== undefined && /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/i.test(text) ? text.toLowerCase().padStart(DIGITS, '0') : ZEROS;
  if (id === ZEROS)
    throw invalidParameter(
      `The id of a trace is 16 or 32 hex digits, which are not all zeros (got ${JSON.stringify(text?.slice(0, 80))}).`,
    );
  return id;
}

/** An id in base64, of 16 bytes or 8, in both alphabets, as 32 hex digits; null for any other text. */
export function traceIdOfBase64(text: string): string | null {
  if (!/^(?:[\w+/-]{22}={0,2}|[\w+/-]{11}=?)$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === 16 || bytes.length === 8 ? bytes.toString('hex').padStart(DIGITS, '0') : null;
}

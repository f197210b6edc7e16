import { createHmac, timingSafeEqual } from 'node:crypto';

/** The header of a signed body. */
export const SIGNATURE_HEADER = 'X-Logweir-Signature';
/** How long a signature is valid, so that a captured body cannot be replayed later. Seconds. */
const MOST_AGE = 300;

const macOf = (secret: string, time: string, body: string): Buffer => createHmac('sha256', secret).update(`${time}.${body}`).digest();

/**
 * The value of the header: `t=<seconds since 1970>,v1=<hex>`, where the hex is the HMAC-SHA-256 (RFC 2104) of `<seconds>.<body>` under the secret,
 * in the form that Stripe's webhooks made known.
 */
export const sign = (secret: string, body: string, seconds: number): string =>
  `t=${String(seconds)},v1=${macOf(secret, String(seconds), body).toString('hex')}`;

/** Whether a header was made of this body under this secret, at most five minutes ago. */
export function isSigned(secret: string, body: string, header: string, nowSeconds: number): boolean {
  const parts = new Map(header.split(',').map((part) => part.split('=', 2) as [string, string]));
  const [time = '', given = ''] = [parts.get('t'), parts.get('v1')];
  if (!/^\d{1,12}$/.test(time) || Math.abs(nowSeconds - Number(time)) > MOST_AGE || !/^[0-9a-f]{64}$/.test(given)) return false;
  return timingSafeEqual(macOf(secret, time, body), Buffer.from(given, 'hex'));
}

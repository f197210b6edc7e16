import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

/** Whether a body was signed with this secret, at most five minutes ago. */
export function isSigned(secret, body, header, now = Date.now() / 1000) {
  const [, time, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? [];
  if (time === undefined || Math.abs(now - Number(time)) > 300) return false;
  const own = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  return timingSafeEqual(own, Buffer.from(given, 'hex'));
}

/** A server that gives what comes signed to `onAlert`. */
export const receiver = (secret, onAlert) =>
  createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const isOurs = isSigned(secret, body, request.headers['x-logweir-signature']);
    if (isOurs) onAlert(JSON.parse(body));
    response.writeHead(isOurs ? 204 : 401).end();
  });

// LOGWEIR_WEBHOOK_SECRET=whsec_… node receiver.mjs 9000
const [, file, port] = process.argv;
if (import.meta.filename === file)
  receiver(process.env.LOGWEIR_WEBHOOK_SECRET, ({ type, alert }) => console.log(type, alert.title)).listen(Number(port), '127.0.0.1');

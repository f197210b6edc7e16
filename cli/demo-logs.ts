/** A made-up shop of five services, whose logs are the same for the same seed. */

export type DemoEntry = Readonly<Record<string, string | number | boolean | object>>;

/** A small repeatable random generator (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const PATHS = ['/', '/cart', '/checkout', '/search?q=lamp', '/product/1042', '/product/77', '/login', '/api/v1/orders'];
const METHODS = ['GET', 'GET', 'GET', 'POST'];
/** Every so many entries the payment provider stops answering for a while: something to find. */
const INCIDENT_EVERY = 4000;
const INCIDENT_LENGTH = 300;

type Dice = {
  readonly pick: <T>(list: readonly T[]) => T;
  readonly number: (below: number) => number;
  readonly hex: (length: number) => string;
};
type Event = { readonly level: string; readonly _msg: string } & Record<string, unknown>;

const SERVICES: Readonly<Record<string, (dice: Dice, incident: boolean) => Event>> = {
  web: ({ pick, number }) => {
    const [method, path, status, duration] = [
      pick(METHODS),
      pick(PATHS),
      pick([200, 200, 200, 200, 200, 200, 301, 404, 500]),
      number(400) + 2,
    ];
    return {
      level: status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info',
      _msg: `${method} ${path} ${status} in ${duration} ms`,
      http: { method, path, status },
      duration_ms: duration,
    };
  },
  api: ({ pick, number, hex }) => {
    const rows = number(500);
    return pick<() => Event>([
      () => ({ level: 'debug', _msg: `query returned ${rows} rows from table orders`, rows }),
      () => ({ level: 'info', _msg: `order ${hex(8)} created for user u${number(5000)}`, order_items: number(9) + 1 }),
      () => ({ level: 'warn', _msg: `cache miss for key product:${number(2000)}`, cached: false }),
    ])();
  },
  auth: ({ pick, number }) => {
    const user = `u${number(5000)}`;
    return pick<() => Event>([
      () => ({ level: 'info', _msg: `user ${user} logged in from 10.${number(256)}.${number(256)}.${number(254) + 1}`, user_id: user }),
      () => ({ level: 'warn', _msg: `login failed for user ${user}: wrong password`, user_id: user, attempts: number(4) + 1 }),
    ])();
  },
  payments: ({ pick, number, hex }, incident) =>
    incident
      ? {
          level: 'error',
          _msg: `payment ${hex(8)} failed: upstream timed out after ${5000 + number(900)} ms`,
          provider: 'acme-pay',
          error: { type: 'TimeoutError' },
          retry: pick([true, false]),
        }
      : {
          level: 'info',
          _msg: `payment ${hex(8)} of ${number(20_000) / 100} EUR captured`,
          provider: 'acme-pay',
          amount: number(20_000) / 100,
        },
  worker: ({ pick, number }) => {
    const job = pick(['send-mail', 'resize-image', 'sync-stock']);
    return { level: 'info', _msg: `job ${job} finished in ${number(9000)} ms`, job, queue: { depth: number(40) } };
  },
};
const NAMES = Object.keys(SERVICES);

/** An endless stream of entries without times. */
export function* demoEntries(seed: number): Generator<DemoEntry> {
  const random = randomFrom(seed);
  const number = (below: number): number => Math.floor(random() * below);
  const pick = <T>(list: readonly T[]): T => list[number(list.length)] as T;
  const hex = (length: number): string => Array.from({ length }, () => number(16).toString(16)).join('');
  for (let index = 0; ; index++) {
    const incident = index % INCIDENT_EVERY >= INCIDENT_EVERY - INCIDENT_LENGTH;
    const service = incident && random() < 0.5 ? 'payments' : pick(NAMES);
    const event = SERVICES[service]?.({ pick, number, hex }, incident) ?? { level: 'info', _msg: '' };
    yield { service, host: `${service}-${String(number(3) + 1)}`, env: 'demo', trace_id: hex(32), ...event };
  }
}

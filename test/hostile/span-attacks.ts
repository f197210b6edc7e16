import type { AttackRequest, RequestAttack, Target } from './attack.ts';
import { lengthDelimited } from './bytes.ts';
import { attributeBytes, deepAttribute, emptyFields, ofService, spanBytes, traceIdOf } from './span-bytes.ts';

const MOST = 2 * 1024 * 1024;
const OTLP = '/v1/traces';
const ZIPKIN = '/api/v2/spans';
const PROTOBUF = { 'Content-Type': 'application/x-protobuf' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** The traces of the attacker (`seed-spans.ts`): one of many spans, one whose parents go in a circle, one whose spans were all sent again and again. */
export const [BIG_TRACE, CYCLIC_TRACE, COPIED_TRACE] = [1, 2, 3];
/** Spans of a body. */
const MANY = 5000;

type Body = string | Buffer;

function send(
  name: string,
  atOnce: number,
  path: string,
  type: Readonly<Record<string, string>>,
  bodies: (round: number) => Body,
): RequestAttack {
  let made: Body | null = null;
  return {
    ...{ name, kind: 'ingest', atOnce },
    request: (_target, round): AttackRequest => {
      const body = bodies.length > 0 ? bodies(round) : (made ??= bodies(round));
      return { host: 'ingest', method: 'POST', path, headers: type, body };
    },
  };
}
const otlp = (name: string, atOnce: number, bodies: (round: number) => Buffer): RequestAttack => send(name, atOnce, OTLP, PROTOBUF, bodies);
const filled = (text: string, bytes: number): Buffer => Buffer.alloc(bytes - (bytes % Buffer.byteLength(text)), text);
const many = <Item>(count: number, one: (index: number) => Item): Item[] => Array.from({ length: count }, (_none, index) => one(index));
/** Ids that differ by round and by index. */
const place = (round: number, index: number): number => 1_000_000 + (round % 100_000) * MANY + index;
const oneSpan = (more: Buffer): Buffer => ofService('attack', [spanBytes({ trace: 10, span: 1, more })]);

/** What a tenant does with the paths that take spans. */
const IN: readonly RequestAttack[] = [
  otlp(
    'spans-flood',
    32,
    (round: number) =>
    ofService('attack', many(MANY, (i) => spanBytes({ trace: place(round, Math.floor(i / 10)), span: place(round, i), more: attributeBytes('user.id', `u${String(i % 997)}`) }))), // prettier-ignore
  ),
  otlp('spans-of-one-trace', 16, (round: number) =>
    ofService(
      'attack',
      many(MANY, (i) => spanBytes({ trace: BIG_TRACE, span: place(round, i) })),
    ),
  ),
  otlp('spans-same-id', 16, () =>
    ofService(
      'attack',
      many(MANY, () => spanBytes({ trace: COPIED_TRACE, span: 7 })),
    ),
  ),
  otlp('spans-in-circles', 16, (round: number) =>
    ofService(
      'attack',
      many(MANY, (i) => spanBytes({ trace: CYCLIC_TRACE, span: place(round, i), parent: place(round, (i + 1) % MANY) })),
    ),
  ),
  otlp('spans-own-services', 16, (round: number) =>
    Buffer.concat(many(MANY, (i) => ofService(`s${String(place(round, i))}`, [spanBytes({ trace: place(round, i), span: 1 })]))),
  ),
  otlp('spans-own-names', 16, (round: number) =>
    ofService(
      'attack',
      many(MANY, (i) => spanBytes({ trace: place(round, i), span: 1, name: `n${String(place(round, i))}` })),
    ),
  ),
  otlp(
    'spans-long-names',
    16,
    (round: number) =>
    ofService('attack', many(450, (i) => spanBytes({ trace: place(round, i), span: 1, name: `${String(place(round, i))}${'n'.repeat(4080)}` }))), // prettier-ignore
  ),
  otlp(
    'spans-long-resources',
    16,
    (round: number) =>
    Buffer.concat(many(30, (i) => ofService('attack', [spanBytes({ trace: place(round, i), span: 1 })], lengthDelimited(0x0a, Buffer.concat([lengthDelimited(0x0a, Buffer.from('cmd')), lengthDelimited(0x12, lengthDelimited(0x0a, filled(`${String(round)} ${String(i)} java `, 60_000)))]))))), // prettier-ignore
  ),
  otlp('spans-depth', 32, () => oneSpan(deepAttribute(10_000))),
  otlp('spans-attributes', 32, () => oneSpan(emptyFields('attributes', 1_000_000))),
  otlp(
    'spans-attributes-allowed',
    16,
    (round: number) =>
    ofService('attack', many(40, (i) => spanBytes({ trace: place(round, i), span: 1, more: Buffer.concat(many(1000, (n) => attributeBytes(`k${String(place(round, i))}_${String(n)}`, 'v'))) }))), // prettier-ignore
  ),
  otlp('spans-events', 32, () => oneSpan(emptyFields('events', 1_000_000))),
  otlp('spans-links', 32, () => oneSpan(emptyFields('links', 1_000_000))),
  otlp('spans-resource-attributes', 32, () => lengthDelimited(0x0a, Buffer.concat([lengthDelimited(0x0a, filled('\x0a\0', MOST - 4096)), lengthDelimited(0x12, spanBytes({ trace: 10, span: 1 }))]))), // prettier-ignore
  otlp('spans-empty', 32, () => lengthDelimited(0x0a, lengthDelimited(0x12, filled('\x12\0', MOST - 64)))),
  otlp('spans-empty-resources', 32, () => filled('\x0a\0', MOST)),
  otlp('spans-lengths', 32, () => Buffer.from('0affffffff7f12ffffffffffffffffff01'.repeat(60_000), 'hex')),
  otlp('spans-of-centuries', 16, (round: number) =>
    ofService(
      'attack',
      many(MANY, (i) => spanBytes({ trace: place(round, i), span: 1, ago: ((round * MANY + i) % 1000) * 86_400_000 })),
    ),
  ),
  send('spans-json-deep', 32, OTLP, JSON_TYPE, () => `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":${'{"arrayValue":{"values":['.repeat(10_000)}${']}}'.repeat(10_000)}}]}]}]}]}`), // prettier-ignore
  send('spans-json-attributes', 32, OTLP, JSON_TYPE, () => `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[${'{},'.repeat(680_000)}{}]}]}]}]}`), // prettier-ignore
  send('spans-json-open', 32, OTLP, JSON_TYPE, () => `{"resourceSpans":${'[{"scopeSpans":'.repeat(70_000)}`),
  send('zipkin-empty', 32, ZIPKIN, JSON_TYPE, () => `[${'{},'.repeat(600_000)}{}]`),
  send('zipkin-tags', 32, ZIPKIN, JSON_TYPE, () => `[{"traceId":"1","id":"1","timestamp":1,"tags":{${many(100_000, (i) => `"${String(i)}":"v"`).join(',')}}}]`), // prettier-ignore
  send('zipkin-annotations', 32, ZIPKIN, JSON_TYPE, () => `[{"traceId":"1","id":"1","timestamp":${String(Date.now() * 1000)},"annotations":[${'{},'.repeat(600_000)}{}]}]`), // prettier-ignore
];

const DAYS = { start: '-30d', end: 'now' };

function get(name: string, atOnce: number, path: string, given: Readonly<Record<string, string | readonly string[]>> = {}): RequestAttack {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(given)) for (const one of [value].flat()) query.append(key, one);
  const base = ({ tenantId }: Target): string => `/api/v1/tenants/${String(tenantId)}`;
  return { name, kind: 'query', atOnce, request: (target) => ({ host: 'app', path: `${base(target)}${path}?${query.toString()}` }) };
}

/** What it does with the paths that read them. */
const OUT: readonly RequestAttack[] = [
  get('traces-all', 8, '/traces', { ...DAYS, limit: '1500' }),
  get('traces-needle', 8, '/traces', { ...DAYS, tag: 'user.id:nobody-has-it' }),
  get('traces-twenty-tags', 8, '/traces', { ...DAYS, service: 'attack', tag: many(20, (i) => `user.id:${'x'.repeat(200)}${String(i)}`) }),
  get('traces-durations', 8, '/traces', { ...DAYS, service: 'attack', min_duration: '1ns', max_duration: '1h', limit: '1500' }),
  get('trace-whole', 4, `/traces/${traceIdOf(BIG_TRACE)}`),
  get('trace-in-circles', 8, `/traces/${traceIdOf(CYCLIC_TRACE)}`),
  get('trace-of-copies', 8, `/traces/${traceIdOf(COPIED_TRACE)}`),
  get('trace-logs', 8, `/traces/${traceIdOf(BIG_TRACE)}/logs`, { limit: '10000' }),
  get('trace-services', 8, '/services', DAYS),
  get('trace-operations', 8, '/services/attack/operations', DAYS),
  get('trace-service-map', 4, '/service-map', DAYS),
  get('jaeger-trace-whole', 4, `/jaeger/api/traces/${traceIdOf(BIG_TRACE)}`),
  get('jaeger-trace-in-circles', 8, `/jaeger/api/traces/${traceIdOf(CYCLIC_TRACE)}`),
  get('jaeger-search-all', 4, '/jaeger/api/traces', { service: 'attack', limit: '1500', lookback: '720h' }),
  get('jaeger-trace-ids', 4, '/jaeger/api/traces', { traceID: many(600, (i) => traceIdOf(i)) }),
  get('jaeger-v3-whole', 4, `/jaeger/api/v3/traces/${traceIdOf(BIG_TRACE)}`),
  get('jaeger-dependencies', 4, '/jaeger/api/dependencies', { endTs: '4102444800000', lookback: '4102444800000' }),
];

/** What a tenant does with traces. */
export const SPAN_ATTACKS: readonly RequestAttack[] = [...IN, ...OUT];

import { requestOf, tracesProtobuf, type SpanJson } from '../../test/fixtures/otlp/traces.ts';

const SERVICES = ['frontend', 'cart', 'checkout', 'payment', 'shipping', 'catalog', 'currency', 'email', 'ads', 'auth'];
const ROUTES = ['/api/products/{id}', '/api/cart', '/api/checkout', '/api/users/{id}', '/api/search'];
/** Spans of a trace. */
const PER_TRACE = 10;

/** Numbers that look random and are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
const int = (key: string, intValue: number): object => ({ key, value: { intValue: String(intValue) } });

/** Attributes in OpenTelemetry's conventions: of an HTTP server, a database client, an HTTP client, or what is internal. */
function attributesOf(place: number, service: string, below: (most: number) => number): readonly object[] {
  const route = ROUTES[below(5)] ?? '';
  const path = route.replace('{id}', String(below(100_000)));
  if (place % 4 === 0)
    return [
      ...[text('http.request.method', 'GET'), text('http.route', route), text('url.path', path), text('url.scheme', 'http')],
      ...[int('http.response.status_code', below(50) === 0 ? 500 : 200), text('server.address', `${service}.shop.svc`)],
      ...[text('network.protocol.version', '1.1'), text('client.address', `10.0.${String(below(200))}.${String(below(250))}`)],
      ...[
        text('user_agent.original', `Mozilla/5.0 (X11; Linux x86_64) Chrome/${String(110 + below(20))}`),
        text('user.id', `u${String(below(50_000))}`),
      ],
    ];
  if (place % 4 === 1)
    return [
      ...[text('db.system.name', 'postgresql'), text('db.namespace', 'shop'), text('db.collection.name', service)],
      ...[
        text('db.operation.name', 'SELECT'),
        text('db.query.text', `SELECT id, name, price FROM ${service} WHERE id = $1 AND tenant = $2`),
      ],
      ...[text('server.address', `pg-${String(below(3))}.shop.svc`), int('server.port', 5432)],
    ];
  if (place % 4 === 2)
    return [
      ...[text('http.request.method', 'GET'), text('url.full', `http://${service}.shop.svc:8080${path}`)],
      ...[text('server.address', `${service}.shop.svc`), int('server.port', 8080), int('http.response.status_code', 200)],
      ...[text('network.protocol.version', '1.1'), text('network.peer.address', `10.1.${String(below(20))}.${String(below(250))}`)],
    ];
  return [
    ...[text('code.function.name', 'compute'), int('thread.id', below(16)), int('items', below(500))],
    ...[{ key: 'cache.hit', value: { boolValue: below(3) > 0 } }, text('queue', `q${String(below(9))}`)],
  ];
}

/** Bodies of an SDK or a collector: `perBody` spans of one service each, OTLP in protobuf; traces go through several of them. */
export function spanBodies(count: number, perBody: number, seed: number): Buffer[] {
  const below = numbers(seed);
  const hex = (bytes: number): string => Array.from({ length: bytes }, () => (below(255) + 1).toString(16).padStart(2, '0')).join('');
  return Array.from({ length: count }, (_none, body) => {
    const service = SERVICES[body % SERVICES.length] ?? '';
    const resource = {
      attributes: [
        ...[text('service.name', service), text('service.version', '1.4.2'), text('deployment.environment.name', 'prod')],
        ...[text('k8s.namespace.name', 'shop'), text('k8s.pod.name', `${service}-7d9f8b6c5d-${String(below(5))}`)],
        ...[text('host.name', `ip-10-0-3-${String(below(9))}`), text('telemetry.sdk.language', 'nodejs')],
        ...[text('telemetry.sdk.name', 'opentelemetry'), text('telemetry.sdk.version', '1.30.1')],
      ],
    };
    const start = Date.now() - below(1000);
    let [traceId, parent] = ['', ''];
    const spans = Array.from({ length: perBody }, (_one, index): SpanJson => {
      const place = index % PER_TRACE;
      if (place === 0) [traceId, parent] = [hex(16), ''];
      const spanId = hex(8);
      const began = BigInt(start + index) * 1_000_000n + BigInt(below(1_000_000));
      const isError = below(50) === 0;
      const span: SpanJson = {
        ...{ traceId, spanId, parentSpanId: parent, flags: 257, kind: [2, 3, 3, 1][place % 4] },
        name: ['GET /api/cart', `SELECT shop.${service}`, 'GET', `compute ${service}`][place % 4],
        startTimeUnixNano: String(began),
        endTimeUnixNano: String(began + BigInt(100_000 + below(20_000_000))),
        attributes: attributesOf(place, service, below),
        ...(isError ? { status: { code: 2, message: 'upstream connect error' }, events: [errorOf(service, began, below)] } : {}),
      };
      if (place % 3 === 0) parent = spanId;
      return span;
    });
    return tracesProtobuf(requestOf(spans, resource));
  });
}

const errorOf = (service: string, time: bigint, below: (most: number) => number): object => ({
  ...{ timeUnixNano: String(time), name: 'exception' },
  attributes: [
    ...[text('exception.type', 'Error'), text('exception.message', `upstream connect error ${String(below(100))}`)],
    text('exception.stacktrace', `Error: upstream\n    at fetch (/app/node_modules/undici/lib/fetch.js:123:45)\n    at async handler (/app/src/${service}.js:${String(below(300))}:11)`), // prettier-ignore
  ],
});

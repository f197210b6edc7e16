import { java, node, python, rsyslog, syslogNg, type Running, type Workplace } from './programs.ts';
import type { ToolsetName } from './toolsets.ts';

/** A value of a found entry: itself, a text's pattern, or an integer whose every digit counts. */
export type Expected = string | number | boolean | bigint | RegExp;

/** A real client, how it is run, and what search must find of what it logged. */
export type Shipper = {
  readonly name: string;
  /** The folder of `examples/shippers/`, and what to replace in it. */
  readonly example: string;
  readonly edit?: readonly [string, string];
  readonly toolset: ToolsetName;
  readonly start: (at: Workplace) => Running | Promise<Running>;
  /** What the program must print before it ends; without it, it may run on. */
  readonly prints?: string;
  /** Every upload: method, path, content type, encoding. */
  readonly request: string;
  /** Whether it soon sends again what was answered 429; then its first upload is. */
  readonly resends: boolean;
  /** The precision of its timestamps: 3 is milliseconds and no more, others are the least. */
  readonly fractionDigits: 3 | 6 | 9;
  readonly found: readonly ({ readonly _msg: Expected } & Readonly<Record<string, Expected>>)[];
};

const CREATED = 'order created for Zoë ☕';
const FAILED = 'payment failed';
const NDJSON = 'application/vnd.elasticsearch+x-ndjson; compatible-with=';
const LOKI = 'POST /loki/api/v1/push application/json';

const now = (): string => new Date().toISOString();
/** Two entries to take, one of them with nanoseconds and an integer of 64 bits, and one to refuse. */
const appNdjson = (): string =>
  [
    `{"_time":"${now().replace('Z', '456789Z')}","_msg":"${CREATED}","level":"info","service":"checkout","order":{"id":"A-77","number":18446744073709551615,"gift":true}}`,
    `{"_time":"${now()}","level":"info"}`,
    `{"_time":"${now().replace('Z', '123456Z')}","_msg":"${FAILED}","level":"error","service":"checkout","reason":"card declined"}`,
    '',
  ].join('\n');
/** The frames of a system: one of RFC 5424 with microseconds, one as rsyslog forwards it. */
const frames = (second: string) => (): string => {
  const micros = now().replace('Z', '678Z');
  const data = '[order@32473 id="A-77"]';
  return `<30>1 ${micros} web-1 checkout 77 ORDER ${data} ${CREATED}\n${second.replace('TIME', micros)}\n`;
};

const order = { 'order.id': 'A-77', 'order.items': 3, 'order.total': 49.5, 'order.gift': true };
const checkout = { service: 'checkout', _stream: '{host="web-1",service="checkout"}' };

const elasticsearch: readonly Shipper[] = [
  ...[9, 8].map((version): Shipper => ({
    name: `@elastic/elasticsearch ${version}, helpers.bulk`,
    example: 'elasticsearch-js',
    ...(version === 8 ? { edit: ["'@elastic/elasticsearch'", "'elasticsearch-8'"] } : {}),
    toolset: 'node',
    start: node('ship.mjs', appNdjson),
    prints: 'total 3 successful 2 failed 1',
    request: `POST /insert/elasticsearch/_bulk ${NDJSON}${version} gzip`,
    resends: false,
    fractionDigits: 9,
    found: [
      {
        _msg: CREATED,
        _stream: '{service="checkout"}',
        level: 'info',
        'order.id': 'A-77',
        'order.number': 2n ** 64n - 1n,
        'order.gift': true,
      },
      { _msg: FAILED, _stream: '{service="checkout"}', level: 'error', reason: 'card declined' },
    ],
  })),
  {
    name: 'elasticsearch-py 9, helpers.bulk',
    example: 'elasticsearch-py',
    toolset: 'python',
    start: python('ship.py'),
    prints: 'successful 2 failed []',
    request: `PUT /insert/elasticsearch/_bulk ${NDJSON}9 gzip`,
    resends: true,
    fractionDigits: 6,
    found: [
      { _msg: CREATED, service: 'checkout', level: 'info', 'order.id': 'A-77', 'order.number': 2n ** 63n - 1n, 'order.total': 49.5 },
      { _msg: FAILED, service: 'checkout', level: 'error', reason: 'card declined' },
    ],
  },
  {
    name: 'pino-elasticsearch',
    example: 'pino-elasticsearch',
    toolset: 'node',
    start: node('app.mjs'),
    request: `POST /insert/elasticsearch/_bulk ${NDJSON}8`,
    resends: false,
    fractionDigits: 3,
    found: [
      { _msg: CREATED, level: 'info', ...checkout, ...order },
      { _msg: FAILED, level: 'error', ...checkout, 'err.message': 'card declined', 'err.stack': /^Error: card declined\n {4}at / },
    ],
  },
  {
    name: 'winston-elasticsearch',
    example: 'winston-elasticsearch',
    toolset: 'node',
    start: node('app.mjs'),
    request: `POST /insert/elasticsearch/_bulk ${NDJSON}8`,
    resends: true,
    fractionDigits: 3,
    found: [
      { _msg: CREATED, level: 'info', service: 'checkout', ...order },
      { _msg: FAILED, level: 'error', service: 'checkout', reason: 'card declined' },
    ],
  },
  {
    name: 'rsyslog, omelasticsearch',
    example: 'rsyslog',
    toolset: 'debian',
    start: rsyslog(frames(`<27>TIME web-1 checkout[77]: ${FAILED}`)),
    request: 'POST /_bulk application/json; charset=utf-8',
    resends: false,
    fractionDigits: 6,
    found: ['info', 'err'].map((level) => ({
      _msg: level === 'info' ? CREATED : FAILED,
      level,
      service: 'checkout',
      pid: '77',
      _stream: '{facility="daemon",host="web-1",service="checkout"}',
    })),
  },
];

const otlp = { service: 'checkout', 'service.name': 'checkout', _stream: /service="checkout"/ };
const openTelemetry: readonly Shipper[] = [
  ...['proto', 'http'].map((exporter): Shipper => ({
    name: `OpenTelemetry SDK for JS, ${exporter === 'proto' ? 'protobuf' : 'JSON'}`,
    example: 'opentelemetry-js',
    ...(exporter === 'http' ? { edit: ["exporter-logs-otlp-proto';", "exporter-logs-otlp-http';"] } : {}),
    toolset: 'node',
    start: node('app.mjs'),
    request: `POST /v1/logs application/${exporter === 'proto' ? 'x-protobuf' : 'json'} gzip`,
    resends: true,
    fractionDigits: 3,
    found: [
      { _msg: CREATED, level: 'info', ...otlp, ...order, 'service.version': '1.4.2' },
      { _msg: FAILED, level: 'error', ...otlp, 'exception.type': 'Error', 'exception.message': 'card declined' },
    ],
  })),
  {
    name: 'OpenTelemetry SDK for Python',
    example: 'opentelemetry-python',
    toolset: 'python',
    start: python('app.py'),
    request: 'POST /v1/logs application/x-protobuf gzip',
    resends: true,
    fractionDigits: 9,
    found: [
      { _msg: CREATED, level: 'info', ...otlp, 'order.id': 'A-77', 'order.number': 2n ** 63n - 1n, 'order.total': 49.5 },
      { _msg: FAILED, level: 'error', ...otlp, 'exception.message': 'card declined', 'exception.stacktrace': /^Traceback/ },
    ],
  },
  {
    name: 'OpenTelemetry SDK for Java',
    example: 'opentelemetry-java',
    toolset: 'java',
    start: java,
    request: 'POST /v1/logs application/x-protobuf gzip',
    resends: true,
    fractionDigits: 9,
    found: [
      { _msg: CREATED, level: 'info', ...otlp, 'order.id': 'A-77', 'order.number': 2n ** 63n - 1n, 'order.total': 49.5 },
      { _msg: FAILED, level: 'error', ...otlp, 'exception.message': 'card declined' },
    ],
  },
];

const production = (level: string) => ({ level, service: 'checkout', env: 'production' });
const loki: readonly Shipper[] = [
  {
    name: 'pino-loki',
    example: 'pino-loki',
    toolset: 'node',
    start: node('app.mjs'),
    request: LOKI,
    resends: false,
    fractionDigits: 3,
    found: [
      {
        _msg: new RegExp(`^{"level":30,.*"msg":"${CREATED}"}$`),
        ...production('info'),
        _stream: /^{env="production",hostname=".*",level="info",service="checkout"}$/,
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        'order.id': 'A-77',
        'order.total': 49.5,
      },
      { _msg: new RegExp(`^{"level":50,.*"msg":"${FAILED}"}$`), ...production('error'), 'err.message': 'card declined' },
    ],
  },
  ...['true', 'false'].map((json): Shipper => ({
    name: `winston-loki, ${json === 'true' ? 'JSON' : 'protobuf'}`,
    example: 'winston-loki',
    edit: ['json: true', `json: ${json}`],
    toolset: 'node',
    start: node('app.mjs'),
    request: json === 'true' ? LOKI : 'POST /loki/api/v1/push application/x-protobuf',
    resends: false,
    fractionDigits: 3,
    found: [
      {
        _msg: new RegExp(`"message":"${CREATED}"`),
        ...production('info'),
        _stream: '{env="production",level="info",service="checkout"}',
        'order.id': 'A-77',
        'order.total': 49.5,
      },
      { _msg: new RegExp(`"message":"${FAILED}"`), ...production('error'), reason: 'card declined' },
    ],
  })),
  {
    name: 'python-logging-loki',
    example: 'python-logging-loki',
    toolset: 'python',
    start: python('app.py'),
    request: LOKI,
    resends: false,
    fractionDigits: 9,
    found: [
      {
        _msg: CREATED,
        ...production('info'),
        order: 'A-77',
        _stream: '{env="production",logger="orders",order="A-77",service="checkout",severity="info"}',
      },
      { _msg: /^payment failed\nTraceback [^]*\nValueError: card declined$/, ...production('error'), logger: 'orders' },
    ],
  },
  {
    name: 'loki4j',
    example: 'loki4j',
    toolset: 'java',
    start: java,
    request: LOKI,
    resends: true,
    fractionDigits: 9,
    found: [
      {
        _msg: `${CREATED}\n`,
        ...production('INFO'),
        logger: 'orders',
        thread: 'main',
        _stream: '{env="production",level="INFO",service="checkout"}',
      },
      { _msg: /^payment failed\njava.lang.IllegalStateException: card declined\n\tat App.main/, ...production('ERROR') },
    ],
  },
];

const number = 2n ** 63n - 1n;
const gelf: readonly Shipper[] = [
  {
    name: 'graypy',
    example: 'graypy',
    toolset: 'python',
    start: python('app.py'),
    request: 'POST /gelf',
    resends: false,
    fractionDigits: 6,
    found: [
      { _msg: CREATED, level: 'info', service: 'checkout', host: 'web-1', order: 'A-77', number },
      {
        _msg: FAILED,
        level: 'error',
        full_message: /^Traceback [^]*ValueError: card declined\n$/,
        _stream: '{facility="orders",host="web-1",service="checkout"}',
      },
    ],
  },
  {
    name: 'pygelf',
    example: 'pygelf',
    toolset: 'python',
    start: python('app.py'),
    request: 'POST /gelf',
    resends: false,
    fractionDigits: 6,
    found: [
      { _msg: CREATED, level: 'info', service: 'checkout', order: 'A-77', number, _stream: /^{host=".+",service="checkout"}$/ },
      { _msg: FAILED, level: 'error', service: 'checkout', full_message: /ValueError: card declined/ },
    ],
  },
  {
    name: 'logstash-gelf',
    example: 'logstash-gelf',
    toolset: 'java',
    start: java,
    request: 'POST /gelf application/json',
    resends: false,
    fractionDigits: 3,
    found: [
      { _msg: CREATED, level: 'info', service: 'checkout', order: 'A-77', number, Thread: 'main' },
      { _msg: FAILED, level: 'error', service: 'checkout', StackTrace: /^java.lang.IllegalStateException: card declined\n\tat / },
    ],
  },
];

const others: readonly Shipper[] = [
  {
    name: 'winston, HTTP transport',
    example: 'winston-http',
    toolset: 'node',
    start: node('app.mjs'),
    request: 'POST /api/v1/ingest application/json',
    resends: false,
    fractionDigits: 3,
    found: [
      { _msg: CREATED, level: 'info', ...checkout, ...order },
      { _msg: FAILED, level: 'error', ...checkout, reason: 'card declined' },
    ],
  },
  {
    name: 'log4j2, Http appender with JsonTemplateLayout',
    example: 'log4j2-http',
    toolset: 'java',
    start: java,
    request: 'POST /api/v1/ingest application/json; charset=UTF-8',
    resends: false,
    fractionDigits: 3,
    found: [
      { _msg: CREATED, level: 'info', service: 'checkout', order: 'A-77', 'log.logger': 'orders', _stream: '{service="checkout"}' },
      { _msg: FAILED, level: 'error', 'error.message': 'card declined', 'error.stack_trace': /\n\tat App.main/ },
    ],
  },
  {
    name: 'splunk-logging',
    example: 'splunk-logging',
    toolset: 'node',
    start: node('app.mjs'),
    request: 'POST /services/collector/event/1.0 application/x-www-form-urlencoded',
    resends: false,
    fractionDigits: 3,
    found: [
      {
        _msg: CREATED,
        level: 'info',
        'order.id': 'A-77',
        'order.items': 3,
        'order.total': 49.5,
        _stream: '{host="web-1",source="checkout"}',
      },
      { _msg: FAILED, level: 'error', reason: 'card declined', _stream: '{host="web-1",source="checkout"}' },
    ],
  },
  {
    name: 'syslog-ng, http()',
    example: 'syslog-ng',
    toolset: 'debian',
    start: syslogNg(frames(`<27>1 TIME web-1 checkout 77 - - ${FAILED}`)),
    request: 'POST /api/v1/syslog text/plain',
    resends: true,
    fractionDigits: 6,
    found: [
      { _msg: CREATED, level: 'info', service: 'checkout', hostname: 'web-1', proc_id: '77', msg_id: 'ORDER', 'order@32473.id': 'A-77' },
      { _msg: FAILED, level: 'error', service: 'checkout', hostname: 'web-1', facility_keyword: 'daemon' },
    ],
  },
];

export const SHIPPERS: readonly Shipper[] = [...elasticsearch, ...openTelemetry, ...loki, ...gelf, ...others];

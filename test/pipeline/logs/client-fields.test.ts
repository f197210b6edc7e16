import { expect } from 'chai';
import { canonical } from './entry-lines.ts';

type Expected = { readonly message: string; readonly level?: string; readonly service?: string; readonly time?: string };

const AT = '2026-11-21T13:00:00Z';

/** What libraries and programs write, each as it stands in its documentation or came out of it; what becomes of it. */
const WRITTEN: readonly (readonly [who: string, json: object, expected: Expected])[] = [
  ['structlog', { event: 'user_logged_in', level: 'info', timestamp: AT, user: 'u1' }, { message: 'user_logged_in', level: 'info' }],
  [
    'loguru, serialize=True',
    {
      text: '2026-11-21 13:00:00.000 | WARNING  | __main__:f:3 - low on disk\n',
      record: {
        level: { icon: '⚠️', name: 'WARNING', no: 30 },
        message: 'low on disk',
        module: 'm',
        time: { repr: '2026-11-21 13:00:00.000000+00:00', timestamp: 1_795_266_000 },
      },
    },
    { message: 'low on disk', level: 'warning' },
  ],
  [
    'Serilog, CLEF',
    { '@t': AT, '@m': 'Request finished', '@l': 'Error', '@i': '791a596a' },
    { message: 'Request finished', level: 'error' },
  ],
  [
    'Serilog, CLEF with a template',
    { '@t': AT, '@mt': 'User {Id} came', '@l': 'Warning', Id: 5 },
    { message: 'User {Id} came', level: 'warning' },
  ],
  [
    'Serilog, JSON formatter',
    { Timestamp: AT, Level: 'Fatal', MessageTemplate: 'u {Id}', RenderedMessage: 'u 5' },
    { message: 'u 5', level: 'fatal' },
  ],
  [
    '.NET, AddJsonConsole',
    {
      Timestamp: AT,
      EventId: 0,
      LogLevel: 'Information',
      Category: 'Web.Api',
      Message: 'Now listening',
      State: { Message: 'Now listening' },
    },
    { message: 'Now listening', level: 'information' },
  ],
  [
    'Rust, tracing-subscriber',
    { timestamp: AT, level: 'WARN', fields: { message: 'slow', ms: 5 }, target: 'shop::db' },
    { message: 'slow', level: 'WARN' },
  ],
  ['Go, zap', { level: 'error', ts: 1_795_266_000, caller: 'a.go:1', msg: 'no route' }, { message: 'no route', level: 'error' }],
  ['Go, slog', { time: AT, level: 'INFO', msg: 'started' }, { message: 'started', level: 'INFO' }],
  ['Go, zerolog', { level: 'warn', time: 1_795_266_000, message: 'odd' }, { message: 'odd', level: 'warn' }],
  ['Node, pino', { level: 50, time: 1_795_266_000_000, pid: 1, hostname: 'h', msg: 'refused' }, { message: 'refused', level: 'error' }],
  ['Node, bunyan', { name: 'shop', level: 40, time: AT, v: 0, msg: 'late' }, { message: 'late', level: 'warn' }],
  [
    'PHP, Monolog',
    { message: 'No row', level: 400, level_name: 'ERROR', channel: 'app', datetime: AT },
    { message: 'No row', level: 'error', time: '' },
  ],
  [
    'Python, json logger',
    { asctime: 'x', levelname: 'CRITICAL', name: 'a', message: 'gone', timestamp: AT },
    { message: 'gone', level: 'critical' },
  ],
  [
    'Java, ECS layout',
    { '@timestamp': AT, 'log.level': 'WARN', message: 'pool is full', 'service.name': 'shop', 'process.thread.name': 'main' },
    { message: 'pool is full', level: 'warn', service: 'shop' },
  ],
  [
    'ECS, nested',
    { '@timestamp': AT, log: { level: 'error' }, message: 'no', service: { name: 'shop', version: '1' } },
    { message: 'no', level: 'error', service: 'shop' },
  ],
  [
    'Google Cloud, text',
    { textPayload: 'job done', severity: 'NOTICE', timestamp: AT, resource: { type: 'global' } },
    { message: 'job done', level: 'notice' },
  ],
  [
    'Google Cloud, JSON',
    { jsonPayload: { message: 'job failed', code: 5 }, severity: 'WARNING', timestamp: AT },
    { message: 'job failed', level: 'warning' },
  ],
  [
    'nginx, own log_format',
    { time_iso8601: '2026-11-21T13:00:00+00:00', request_method: 'GET', request_uri: '/cart?x=1', status: '502' },
    { message: 'GET /cart?x=1 502' },
  ],
  [
    'nginx, request line',
    { time_iso8601: '2026-11-21T13:00:00+00:00', request: 'POST /pay HTTP/1.1', status: 200, remote_addr: '192.0.2.1' },
    { message: 'POST /pay 200' },
  ],
  [
    'Traefik',
    { time: AT, RequestMethod: 'GET', RequestPath: '/', DownstreamStatus: 200, level: 'info', msg: '' },
    { message: 'GET / 200', level: 'info' },
  ],
  [
    'Kubernetes, audit',
    { kind: 'Event', verb: 'list', requestURI: '/api/v1/pods', responseStatus: { code: 200 }, requestReceivedTimestamp: AT },
    { message: 'list /api/v1/pods 200' },
  ],
  ['what has fields alone', { user: 'u', n: 5, timestamp: AT }, { message: `{"user":"u","n":5,"timestamp":"${AT}"}` }],
];

describe('what libraries write as JSON', () => {
  for (const [who, json, { message, level, service, time = AT }] of WRITTEN)
    it(`has its time, level, service and message: ${who}`, () => {
      const entry = canonical(JSON.stringify(json)) as Record<string, unknown>;
      expect(entry).to.be.an('object');
      expect({ message: entry['_msg'], level: entry['level'], service: entry['service'] }).to.deep.equal({ message, level, service });
      if (time !== '') expect(entry['_time']).to.equal(time);
    });

  it('is rejected where it has nothing but a time, a level, a service and labels', () => {
    const reason = 'no message, and nothing else but a time, a level, a service and labels';
    for (const json of [
      {},
      { _msg: '' },
      { _time: AT, level: 'info', service: 's', host: 'h' },
      { 'service.name': 's', severity: 'error', '@t': AT },
      { a: null, b: '' },
    ])
      expect(canonical(JSON.stringify(json)), JSON.stringify(json)).to.equal(reason);
    expect(canonical('{"zone":"z"}', { streamFields: ['zone'] })).to.equal(reason);
    expect(canonical('{"zone":"z"}')).to.include({ _msg: '{"zone":"z"}' });
  });

  it('takes an event for the message where it is a string', () => {
    expect(canonical('{"event":"came","a":1}')).to.include({ _msg: 'came' }).and.not.have.property('event');
    expect(canonical('{"event":5,"text":"t"}')).to.include({ _msg: 't' });
    expect(canonical('{"event":{"name":"login"},"a":1}')).to.include({ _msg: 'login', 'event.name': 'login' });
  });
});

describe('what a request says of its fields', () => {
  const rules = (more: object): Parameters<typeof canonical>[1] => ({
    fieldRules: { messages: [], times: [], ignored: [], extra: [], ...more },
  });
  const json = `{"when":"${AT}","title":"t","msg":"m","secret":"x","http":{"a":1,"b":2},"http2":3}`;

  it('names the message: the first one that is there goes before all, and is moved', () => {
    const entry = canonical(json, rules({ messages: ['none', 'title'] }));
    expect(entry).to.include({ _msg: 't', msg: 'm' }).and.not.have.property('title');
    expect(canonical(json, rules({ messages: ['none'] }))).to.include({ _msg: 'm' });
  });
  it('names the time: the first one that is readable', () => {
    expect(canonical(json, rules({ times: ['title', 'when'] })))
      .to.include({ _time: AT })
      .and.not.have.property('when');
  });
  it('leaves fields out, and all that begin so', () => {
    expect(canonical(json, rules({ ignored: ['secret', 'http.*'] }))).to.have.all.keys(
      '_time',
      '_stream',
      '_msg',
      'when',
      'title',
      'http2',
    );
  });
  it('puts fields in, which may be labels and go before the entry’s own', () => {
    const entry = canonical(json, rules({ extra: [['title', 'own'], ['app', 'web']] })); // prettier-ignore
    expect(entry).to.include({ title: 'own', app: 'web', _stream: '{app="web"}' });
  });
});

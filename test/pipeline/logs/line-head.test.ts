import { expect } from 'chai';
import { loki } from '../../../pipeline/normalizers/loki.ts';
import { normalize } from '../normalizers/normalize.ts';
import { canonical } from './entry-lines.ts';

const ESC = '\u001b';
const T = '2026-11-21T12:00:00Z';
const HALF = '2026-11-21T12:00:00.500Z';

/** How lines of well-known programs begin: the level, and the time where it names a zone. */
const HEADS: readonly (readonly [who: string, line: string, level: string | undefined, time?: string])[] = [
  ['Loki, Prometheus 2, Thanos (go-kit)', 'level=warn ts=2026-11-21T12:00:00.5Z caller=compact.go:1 msg="slow"', 'warn', HALF],
  ['go-kit, the time first', 'ts=2026-11-21T12:00:00.5Z caller=main.go:9 level=error err="boom"', 'error', HALF],
  ['Prometheus 3 (slog)', 'time=2026-11-21T12:00:00.5Z level=INFO source=main.go:1 msg=ready', 'info', HALF],
  ['logrus', 'time="2026-11-21T12:00:00Z" level=fatal msg="no route" error="a level=info"', 'fatal', T],
  ['Grafana', 'logger=settings t=2026-11-21T12:00:00.5Z level=info msg="Starting"', 'info', HALF],
  ['Traefik, common', 'time="2026-11-21T12:00:00Z" level=debug msg="x"', 'debug', T],
  ['Laravel (Monolog)', '[2026-11-21 12:00:00] production.ERROR: Mix manifest missing {"exception":"x"} []', 'error'],
  ['Monolog with a zone', '[2026-11-21T14:00:00.500000+02:00] GA4.WARNING: slow [] []', 'warning', HALF],
  ['tracing, coloured', `${ESC}[2m2026-11-21T12:00:00.5Z${ESC}[0m ${ESC}[33m WARN${ESC}[0m ${ESC}[2mapp::db${ESC}[0m: slow`, 'warn', HALF],
  ['tracing, plain', '2026-11-21T12:00:00.5Z  WARN app::db: slow', 'warn', HALF],
  ['env_logger', '[2026-11-21T12:00:00Z ERROR shop] gone', 'error', T],
  ['coloured level alone', `${ESC}[31mERROR${ESC}[0m disk sda1 full`, 'error'],
  ['coloured, in brackets', `${ESC}[1;31m[ERROR]${ESC}[0m disk full`, 'error'],
  ['Nest', `${ESC}[32m[Nest] 7  - ${ESC}[39m11/21/2026, 12:00:00 PM ${ESC}[32m    LOG${ESC}[39m x`, undefined],
  ['PostgreSQL', '2026-11-21 12:00:00.500 UTC [77] ERROR:  relation "a" does not exist', 'error', HALF],
  ['PostgreSQL, numeric zone', '2026-11-21 21:00:00 +09 [7484-2] FATAL:  wraparound', 'fatal', T],
  ['PostgreSQL, user and database', '2026-11-21 12:00:00.500 UTC [1] shop@orders LOG:  paid', 'log', HALF],
  ['MySQL', '2026-11-21T12:00:00.500000Z 12 [Warning] [MY-010116] [Server] x', 'warning', HALF],
  ['MongoDB 4.2', '2026-11-21T12:00:00.500+0000 I  NETWORK  [listener] connection accepted', 'info', HALF],
  ['Redis', '1:M 21 Nov 2026 12:00:00.500 # WARNING overcommit', undefined],
  ['nginx, error', '2026/11/21 12:00:00 [error] 12#34: *56 open() failed', 'error'],
  ['Apache, error', '[Sat Nov 21 12:00:00.500000 2026] [core:error] [pid 12:tid 34] AH00037', 'error'],
  ['HAProxy', '[NOTICE]   (1) : New worker (8) forked', 'notice'],
  ['Kafka (log4j)', '[2026-11-21 12:00:00,500] WARN [Broker id=1] slow (kafka.server.X)', 'warn'],
  ['ZooKeeper', '2026-11-21 12:00:00,500 [myid:1] - ERROR [main:X@1] - gone', 'error'],
  ['Elasticsearch, plain', '[2026-11-21T12:00:00,500][WARN ][o.e.c.r.a.D] [node-1] high disk watermark', 'warn'],
  ['Spring Boot', '2026-11-21T12:00:00.500Z  INFO 1 --- [main] c.e.App : Started', 'info', HALF],
  ['Logback, default', '12:00:00.500 [main] ERROR c.e.App - no', 'error'],
  ['java.util.logging', 'SEVERE: null', 'severe'],
  ['log4j, %-5p first', 'ERROR [main] c.e.App - no', 'error'],
  ['Python, basicConfig', 'WARNING:shop.orders:late', 'warning'],
  ['Python, usual format', '2026-11-21 12:00:00,500 - shop - ERROR - gone', 'error'],
  ['Django, Gunicorn', '[2026-11-21 12:00:00 +0000] [7] [INFO] Listening at', 'info', T],
  ['uvicorn', 'INFO:     Started server process [1]', 'info'],
  ['Celery', '[2026-11-21 12:00:00,500: WARNING/MainProcess] late', 'warning'],
  ['Rails', 'E, [2026-11-21T12:00:00.500000 #12] ERROR -- : gone', 'error'],
  ['Sidekiq', '2026-11-21T12:00:00.500Z pid=1 tid=a WARN: late', 'warn', HALF],
  ['Kubernetes (klog)', 'W1121 12:00:00.500000       1 shop.go:12] late', 'warn'],
  ['etcd 3.3', '2026-11-21 12:00:00.500000 W | etcdserver: slow', 'warn'],
  ['ClickHouse', '2026.11.21 12:00:00.500000 [ 12 ] {} <Error> Application: no', 'error'],
  ['.NET, console', 'fail: Shop.Api[0]', 'error'],
  ['Serilog, console', '[12:00:00 ERR] gone', 'err'],
  ['Serilog, console, a warning', '[12:00:00 WRN] late', 'warn'],
  ['Consul, Vault', '2026-11-21T12:00:00.500Z [WARN]  agent: late', 'warn', HALF],
  ['Docker, JSON around it', '{"log":"level=error msg=x\\n","stream":"stderr","time":"2026-11-21T12:00:00.5Z"}', undefined],
  ['level in brackets after the time', '[2026-11-21 12:00:00] [ERROR] gone', 'error'],
  ['a word inside the text is no level', 'the request failed with ERROR 5', undefined],
  ['nor is one that begins a sentence', 'Error in line 5', undefined],
  ['nor a pair far inside', 'user asked for level=error', undefined],
  ['nor a query that names one', 'ts=2026-11-21T12:00:00.5Z query="level=error" org=1', undefined],
];

describe('the head of a raw line', () => {
  for (const [who, line, level, time] of HEADS)
    it(`says its level and time: ${who}`, () => {
      const entry = canonical(JSON.stringify({ _msg: line })) as Record<string, unknown>;
      expect(entry['_msg']).to.equal(line);
      expect(entry['level'], 'level').to.equal(level);
      if (time !== undefined) expect(entry['_time'], 'time').to.equal(time);
    });

  it('is read inside a line of JSON that says no level', () => {
    const levelIn = (line: string): unknown => {
      const body = JSON.stringify({ streams: [{ stream: { a: 'b' }, values: [['1795269600000000000', line]] }] });
      const result = normalize(loki, body, { contentType: 'application/json' });
      return 'entries' in result ? result.entries[0]?.get('level') : result;
    };
    expect(levelIn('{"log":"level=error ts=2026-11-21T12:00:00Z msg=x\\n","stream":"stderr"}')).to.equal('error');
    expect(levelIn('{"msg":"[2026-11-21 12:00:00] production.WARNING: slow"}')).to.equal('warning');
    expect(levelIn('{"level":"warning","msg":"Get data error: x"}')).to.equal('warning');
    expect(levelIn('{"level":"info","msg":"level=error"}')).to.equal('info');
    expect(levelIn('{"msg":"the request failed with ERROR 5"}')).to.equal(undefined);
    expect(levelIn('{"a":"level=error"}')).to.equal(undefined);
  });

  it('takes no word for a level that every object has', () => {
    for (const word of ['toString', 'valueOf', '__proto__', 'isNaN'])
      for (const line of [`[${word}] x`, `<${word}> x`, `level=${word} x`])
        expect(canonical(JSON.stringify({ _msg: line }))).to.not.have.property('level');
  });

  it('does not go before what the entry says', () => {
    expect(canonical(JSON.stringify({ _msg: 'level=warn ts=2026-11-21T12:00:00.5Z', level: 'x', _time: T }))).to.include({
      level: 'x',
      _time: T,
    });
  });
});

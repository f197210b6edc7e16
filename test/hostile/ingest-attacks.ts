import { gzipSync } from 'node:zlib';
import type { AttackRequest, RequestAttack } from './attack.ts';
import { lengthDelimited, nestedMessages, snappyOf, zstdBomb } from './bytes.ts';

const MIB = 1024 * 1024;
/** The cap of a body. */
const MOST = 2 * MIB;

type Body = string | Buffer;
type Headers = Readonly<Record<string, string>>;
/** A body that is the same in each request is made once. */
type Bodies = (() => Body) | ((round: number) => Body);

function attack(
  name: string,
  atOnce: number,
  path: string,
  bodies: Bodies,
  headers: Headers | ((round: number) => Headers) = {},
): RequestAttack {
  let made: Body | null = null;
  const bodyOf = (round: number): Body => (bodies.length > 0 ? bodies(round) : (made ??= bodies(round)));
  return {
    ...{ name, kind: 'ingest', atOnce },
    request: (_target, round): AttackRequest => {
      const own = typeof headers === 'function' ? headers(round) : headers;
      return { host: 'ingest', method: 'POST', path, headers: own, body: bodyOf(round) };
    },
  };
}

const JSON_PATH = '/api/v1/ingest';
const BULK = '/insert/elasticsearch/_bulk';
const LOKI = '/loki/api/v1/push';
const OTLP = '/v1/logs';
const HEC = '/services/collector/event';
const PROTOBUF = { 'Content-Type': 'application/x-protobuf' };
const MSGPACK = { 'Content-Type': 'application/msgpack' };
const EMPTY_GZIP = gzipSync('');
const DAY_MS = 86_400_000;

const filled = (text: string, bytes = MOST): Buffer => Buffer.alloc(bytes - (bytes % Buffer.byteLength(text)), text);
const lines = (count: number, one: (index: number) => object): string =>
  Array.from({ length: count }, (_none, index) => JSON.stringify(one(index))).join('\n');
/** So many members of the same value. */
const named = (count: number, name: (index: number) => string, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_none, index) => [name(index), value] as const));
const entry = (round: number, index: number): string =>
  `request ${String(index)} of round ${String(round)} for checkout took ${String(index % 89)} ms`;
const streamNames = (round: number): Headers => ({
  'X-Stream-Fields': Array.from({ length: 64 }, (_none, index) => `n${String(round)}_${String(index)}`).join(','),
});
const loki = (stream: object, values: string): string => `{"streams":[{"stream":${JSON.stringify(stream)},"values":[${values}]}]}`;
const now = (): string => `${String(Date.now())}000000`;
const cloudwatch = (data: Buffer, times: number): string =>
  JSON.stringify({ requestId: 'r', timestamp: 1, records: Array.from({ length: times }, () => ({ data: data.toString('base64') })) });

/** What a tenant does with the paths that take entries. */
export const INGEST_ATTACKS: readonly RequestAttack[] = [
  // plain floods
  attack('flood', 48, JSON_PATH, (round: number) =>
    lines(6000, (i) => ({ _msg: entry(round, i), service: 'checkout', host: `h${String(i % 7)}` })),
  ),
  attack('small-writes', 200, JSON_PATH, () => '{"_msg":"x"}'),
  attack('large-entries', 16, JSON_PATH, () => JSON.stringify({ _msg: 'large entry of words '.repeat(90_000) })),
  attack('control-characters', 16, JSON_PATH, () => `{"_msg":"x","a":"${'\\u0001'.repeat(300_000)}"}`),
  attack('invalid-utf8', 16, JSON_PATH, () => Buffer.concat([Buffer.from('{"_msg":"'), Buffer.alloc(1_900_000, 0xff), Buffer.from('"}')])),

  // streams, days, names
  attack(
    'stream-names',
    16,
    JSON_PATH,
    (round: number) => lines(100, (i) => ({ _msg: 'x', [`n${String(round)}_${String(i % 64)}`]: String(i) })),
    streamNames,
  ),
  attack('stream-names-400', 64, JSON_PATH, () => '{', streamNames),
  attack(
    'stream-names-long',
    64,
    JSON_PATH,
    () => '{"_msg":"x"}',
    (round) => ({ 'X-Stream-Fields': `${String(round)}${'x,'.repeat(25_000)}` }),
  ),
  attack('own-streams', 16, JSON_PATH, (round: number) => lines(5000, (i) => ({ _msg: 'x', app: `a${String(round)}_${String(i)}` }))),
  attack('own-days', 16, JSON_PATH, (round: number) =>
    lines(5000, (i) => ({
      _msg: 'x',
      app: `d${String(round)}_${String(i)}`,
      _time: new Date(Date.now() - (i % 360) * DAY_MS).toISOString(),
    })),
  ),
  attack('days-of-centuries', 16, JSON_PATH, (round: number) =>
    lines(5000, (i) => ({
      _msg: 'x',
      app: `c${String(round)}`,
      _time: new Date(Date.UTC(1901, 0, 1) + ((round * 5000 + i) % 130_000) * DAY_MS).toISOString(),
    })),
  ),
  // each entry of a stream twelve hours behind the one before, for two weeks
  attack('now-and-then', 16, JSON_PATH, (round: number) =>
    lines(5000, (i) => ({
      _msg: 'x',
      app: `t${String(round)}_${String(Math.floor(i / 28))}`,
      _time: new Date(Date.now() - (28 - (i % 28)) * (DAY_MS / 2)).toISOString(),
    })),
  ),
  attack('own-levels', 16, JSON_PATH, (round: number) =>
    lines(5000, (i) => ({
      _msg: 'x',
      level: `l${String(round)}_${String(i)}`,
      service: `s${String(round)}_${String(i)}`,
      status: `${String(round)}_${String(i)}`,
    })),
  ),
  attack('label-of-1-mb', 16, JSON_PATH, (round: number) => lines(1, () => ({ _msg: 'x', app: `${String(round)}${'l'.repeat(MIB)}` }))),
  attack('loki-label-of-1-mb', 16, LOKI, (round: number) => loki({ app: `${String(round)}${'l'.repeat(MIB)}` }, `["${now()}","x"]`)),
  attack('loki-labels', 16, LOKI, (round: number) =>
    loki(
      Object.fromEntries(Array.from({ length: 900 }, (_none, i) => [`n${String(round)}_${String(i)}`, 'v'.repeat(900)])),
      `["${now()}","x"],["${now()}","y"]`,
    ),
  ),
  attack('field-names', 16, JSON_PATH, (round: number) =>
    lines(90, (i) => ({ _msg: 'x', ...named(990, (n) => `n${String(round)}_${String(i)}_${String(n)}`, 1) })),
  ),
  attack('long-names', 16, JSON_PATH, (round: number) =>
    lines(7, (i) => ({ _msg: 'x', [`${String(round)}${String(i)}${'n'.repeat(250_000)}`]: 1 })),
  ),
  attack('names-of-256', 16, JSON_PATH, (round: number) =>
    lines(7, (i) => ({ _msg: 'x', ...named(990, (n) => `${String(round)}_${String(i)}_${String(n)}`.padEnd(256, 'n'), 1) })),
  ),
  attack('proto', 32, JSON_PATH, () =>
    '{"_msg":"x","__proto__":{"limit":1,"toString":2},"constructor":{"prototype":{"a":1}},"hasOwnProperty":1}\n'.repeat(5000),
  ),
  attack('same-name', 16, JSON_PATH, () => `{"_msg":"x",${'"a":1,'.repeat(300_000)}"b":1}`),

  // bodies that are little and mean much
  attack('ones', 48, JSON_PATH, () => filled('1\n')),
  attack('empty-objects', 48, JSON_PATH, () => filled('{}\n')),
  attack('empty-array-elements', 48, JSON_PATH, () => `[${'{},'.repeat(600_000)}{}]`),
  attack('deep-json', 32, JSON_PATH, () => `{"_msg":"x","a":${'['.repeat(900_000)}${']'.repeat(900_000)}}`),
  attack('deep-objects', 32, JSON_PATH, () => `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`),
  attack('large-arrays', 32, JSON_PATH, () => `{"_msg":"x","a":[${'1,'.repeat(900_000)}1]}`),
  attack('long-number', 32, JSON_PATH, () => `{"_msg":"x","a":${'9'.repeat(1_900_000)}}`),
  attack('long-time', 32, JSON_PATH, () => `{"_msg":"x","_time":${'9'.repeat(1_900_000)}}`),
  attack('unfinished', 32, JSON_PATH, () => `{"_msg":"${'\\"'.repeat(1_000_000)}`),
  attack('bulk-empty-lines', 32, BULK, () => filled('\n')),
  attack('bulk-rejected', 32, `${BULK}?items=true`, () => filled('{"index":{}}\n1\n')),
  attack('bulk-actions', 32, `${BULK}?items=true`, () => filled('{"delete":{}}\n')),
  attack(
    'bulk-index-names',
    32,
    BULK,
    () => `{"create":{"_index":"${'i'.repeat(900_000)}"}}\n{"_msg":"x"}\n{"create":{"_index":"${'j'.repeat(900_000)}"}}\n1\n`,
  ),
  attack('loki-empty-streams', 32, LOKI, () => `{"streams":[${'{"stream":{},"values":[]},'.repeat(70_000)}{"stream":{},"values":[]}]}`),
  attack('loki-empty-values', 32, LOKI, () => loki({ app: 'x' }, `${'["",""],'.repeat(200_000)}["",""]`)),
  attack('loki-wrong-values', 32, LOKI, () => loki({ app: 'x' }, `${'0,'.repeat(900_000)}["",""]`)),
  attack('hec-endless', 32, HEC, () => filled('{"event":1}')),
  attack('hec-open', 32, HEC, () => '{"event":{"a":1},"fields":'.repeat(70_000)),
  attack('hec-raw-lines', 32, '/services/collector/raw', () => filled('x\n')),
  attack('syslog-lines', 32, '/api/v1/syslog', () => filled('<1>\n')),
  attack('syslog-data', 32, '/api/v1/syslog', () => `<1>1 - - - - - ${'[a b="\\"'.repeat(230_000)}`),
  attack('syslog-frames', 32, '/api/v1/syslog', () => filled('1 <')),
  attack('heroku-frames', 32, '/api/v1/drain/heroku', () => filled('999999999 <1>1 ')),
  attack('gelf-nul', 32, '/gelf', () => Buffer.alloc(MOST)),
  attack('gelf-messages', 32, '/gelf', () => filled('{"short_message":"x"}\0')),
  attack('drain-lines', 32, '/api/v1/drain', () => filled('\r\n'), { 'Content-Type': 'text/plain' }),
  attack('vercel', 32, '/api/v1/drain/vercel', () => filled('{"proxy":{}}\n')),

  // binary formats
  attack('otlp-lengths', 32, OTLP, () => Buffer.from('0affffffff7f12ffffffffffffffffff01'.repeat(60_000), 'hex'), PROTOBUF),
  attack('otlp-nested', 32, OTLP, () => nestedMessages(0x0a, 100_000), PROTOBUF),
  attack('otlp-empty-records', 32, OTLP, () => lengthDelimited(0x0a, lengthDelimited(0x12, filled('\x12\0', MOST - 64))), PROTOBUF),
  attack('otlp-empty-resources', 32, OTLP, () => filled('\x0a\0'), PROTOBUF),
  attack('otlp-unknown-fields', 32, OTLP, () => filled('\x7a\0'), PROTOBUF),
  attack(
    'otlp-shared-attributes',
    32,
    OTLP,
    () => {
      const attribute = lengthDelimited(
        0x0a,
        Buffer.concat([lengthDelimited(0x0a, Buffer.from('a')), lengthDelimited(0x12, lengthDelimited(0x0a, Buffer.alloc(MIB, 'v')))]),
      );
      return lengthDelimited(0x0a, Buffer.concat([lengthDelimited(0x0a, attribute), lengthDelimited(0x12, filled('\x12\0', MIB - 256))]));
    },
    PROTOBUF,
  ),
  attack('otlp-json-deep', 32, OTLP, () => `{"resourceLogs":${'[{"scopeLogs":'.repeat(70_000)}`, { 'Content-Type': 'application/json' }),
  attack('loki-protobuf-streams', 32, LOKI, () => snappyOf(filled('\x0a\0')), PROTOBUF),
  attack('msgpack-lengths', 32, '/api/v1/fluent', () => Buffer.from('dd7fffffffdf7fffffffdb7fffffff'.repeat(60_000), 'hex'), MSGPACK),
  attack('msgpack-deep', 32, '/api/v1/fluent', () => Buffer.alloc(MOST, 0x91), MSGPACK),
  attack('msgpack-nils', 32, '/api/v1/fluent', () => Buffer.alloc(MOST, 0xc0), MSGPACK),
  attack('fluent-json-open', 32, '/api/v1/fluent', () => filled('[[1,{"a":1}],'), { 'Content-Type': 'application/json' }),

  // compressed bodies
  attack('gzip-bomb', 32, JSON_PATH, () => gzipSync(Buffer.alloc(256 * MIB, 0x20)), { 'Content-Encoding': 'gzip' }),
  attack('gzip-members', 32, JSON_PATH, () => Buffer.concat(Array.from({ length: 90_000 }, () => EMPTY_GZIP)), {
    'Content-Encoding': 'gzip',
  }),
  attack('gzip-of-entries', 48, JSON_PATH, () => gzipSync(filled('{"_msg":"x","service":"checkout","host":"h1"}\n')), {
    'Content-Encoding': 'gzip',
  }),
  attack('zstd-bomb', 32, JSON_PATH, () => zstdBomb(16_384), { 'Content-Encoding': 'zstd' }),
  attack('snappy-bomb', 32, JSON_PATH, () => snappyOf(Buffer.alloc(40 * MIB)), { 'Content-Encoding': 'snappy' }),
  attack('snappy-length', 64, JSON_PATH, () => Buffer.from('ffffffff0f00', 'hex'), { 'Content-Encoding': 'snappy' }),
  attack('cloudwatch-bombs', 32, '/api/v1/cloudwatch', () => cloudwatch(gzipSync(Buffer.alloc(64 * MIB)), 20)),
  attack('cloudwatch-records', 32, '/api/v1/cloudwatch', () => cloudwatch(Buffer.from('{}'), 100_000)),
];

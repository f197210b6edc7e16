import { BRACKETS, CLOCK, LEVELS, MONTH, TIME, ZONE } from './pieces.ts';

/**
 * A layout that a program writes its lines in: `pattern` matches the header, with the groups `time` and `level`; what follows is the content,
 * which has a header of its own where `isEnvelope`. `alsoBegins`: kinds of first bytes besides the example's, `0` any digit, `a` any letter.
 */
export type Layout = {
  readonly name: string;
  readonly example: string;
  readonly pattern: RegExp;
  readonly isEnvelope?: true;
  readonly alsoBegins?: readonly string[];
};

const at = (source: string): RegExp => new RegExp(source, 'y');
const ISO = `\\d{4}-\\d\\d-\\d\\d[T ]${CLOCK}`;
const HOST_AND_TAG = String.raw`[\w.:-]{1,255} [^\s:\[\]]{1,128}(?:\[\d{1,10}\])?:(?: |$)`;

/** Layouts with marks of their own, in the order in which they are tried. A new one is a row here, and its example is its test. */
export const LAYOUTS: readonly Layout[] = [
  {
    name: 'docker_json',
    example: '{"log":"order 5 paid\\n","stream":"stdout","time":"2024-05-06T07:08:09.123456789Z"}',
    pattern: at(String.raw`\{"log":"`),
    isEnvelope: true,
  },
  {
    name: 'cri',
    example: '2024-05-06T07:08:09.123456789Z stdout F order 5 paid',
    pattern: at(`(?<time>${ISO}${ZONE}) (?:stdout|stderr) [FP] `),
    isEnvelope: true,
  },
  {
    name: 'syslog',
    example: 'May  6 07:08:09 web-1 shop[1234]: order 5 paid',
    pattern: at(`(?:<\\d{1,3}>)?(?:${MONTH} [ \\d]\\d ${CLOCK}|${ISO}${ZONE}) ${HOST_AND_TAG}`),
    isEnvelope: true,
    alsoBegins: ['<', '0'],
  },
  {
    name: 'klog',
    example: 'I0506 07:08:09.123456    1234 shop.go:12] order 5 paid',
    pattern: at(`(?<level>[IWEF])\\d{4} ${CLOCK} +\\d+ [^\\s:\\]]{1,128}:\\d+\\] `),
  },
  {
    name: 'apache_error',
    example: '[Mon May 06 07:08:09.123456 2024] [core:error] [pid 12:tid 34] [client 10.0.0.7:81] order 5 paid',
    pattern: at(
      `\\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} \\d\\d ${CLOCK} \\d{4}\\] \\[(?:[a-z0-9_]{0,32}:)?(?<level>[a-z]{1,10})\\d?\\] (?:\\[pid [^\\]]{1,40}\\] )?`,
    ),
  },
  {
    name: 'nginx_error',
    example: '2024/05/06 07:08:09 [error] 12#34: *56 order 5 paid',
    pattern: at(`\\d{4}/\\d\\d/\\d\\d ${CLOCK} \\[(?<level>[a-z]{1,10})\\] \\d+#\\d+: (?:\\*\\d+ )?`),
  },
  {
    name: 'access',
    example: '10.0.0.7 - - [06/May/2024:07:08:09 +0000] "GET /orders/5 HTTP/1.1" 200 12',
    pattern: at(`[\\w.:-]{1,255} [^\\s"]{1,128} [^\\s"]{1,128} \\[(?<time>\\d\\d/${MONTH}/\\d{4}:${CLOCK} [+-]\\d{4})\\] `),
    alsoBegins: ['a', ':'],
  },
  {
    name: 'haproxy',
    example: '10.0.0.7:5012 [06/May/2024:07:08:09.123] web~ shop/web-1 0/0/1/2/3 200 512 - - ---- 1/1/0/0/0 0/0 "GET /orders/5 HTTP/1.1"',
    pattern: at(`[\\da-f.:]{3,45}:\\d{1,5} \\[\\d\\d/${MONTH}/\\d{4}:${CLOCK}\\] `),
    alsoBegins: ['a', ':'],
  },
  {
    name: 'rails',
    example: 'I, [2024-05-06T07:08:09.123456 #1234]  INFO -- : order 5 paid',
    pattern: at(`[DIWEFAU], \\[${ISO} #\\d+\\] +(?<level>${LEVELS}) -- [^:\\s]{0,80}: `),
  },
  {
    name: 'postgres',
    example: '2024-05-06 07:08:09.123 UTC [1234] shop@orders LOG:  order 5 paid',
    pattern: at(
      `(?<time>${ISO}(?: ${ZONE})?)(?: [A-Z]{3,5})? \\[\\d+(?:-\\d+)?\\](?: [^\\s:]{1,128})? (?<level>DEBUG\\d?|INFO|NOTICE|WARNING|ERROR|LOG|FATAL|PANIC|DETAIL|HINT|STATEMENT|CONTEXT): {1,2}`,
    ),
  },
  {
    name: 'mysql',
    example: '2024-05-06T07:08:09.123456Z 12 [Warning] [MY-010116] [Server] order 5 paid',
    pattern: at(`(?<time>${ISO}${ZONE}) \\d+ \\[(?<level>[A-Z][a-z]{3,8})\\] (?:\\[MY-\\d+\\] \\[\\w{1,32}\\] )?`),
  },
  {
    name: 'redis',
    example: '1234:M 06 May 2024 07:08:09.123 # order 5 paid',
    pattern: at(`\\d+:[XCSM] \\d\\d ${MONTH} \\d{4} ${CLOCK} [.*#-] `),
  },
  {
    name: 'slog',
    example: 'time=2024-05-06T07:08:09.123Z level=INFO msg="order 5 paid" user=bob',
    pattern: at(`(?:time|ts|t)="?(?<time>${ISO}${ZONE})"? (?:level|lvl)=(?<level>[A-Za-z]{3,8})(?:[+-]\\d+)? (?:caller=\\S{1,128} )?`),
  },
  {
    name: 'clickhouse',
    example: '2024.05.06 07:08:09.123456 [ 1234 ] {5f3a} <Information> shop.orders (2b1c): order 5 paid',
    pattern: at(
      `\\d{4}\\.\\d\\d\\.\\d\\d ${CLOCK} \\[ \\d{1,10} \\] \\{[^{}\\s]{0,128}\\} <(?<level>[A-Z][a-z]{3,10})> (?:[^\\s:]{1,128}(?:::[^\\s:]{1,128}){0,4}(?: \\([^()\\s]{1,128}\\)){0,2}: )?`,
    ),
  },
  {
    name: 'logcat',
    example: '05-06 07:08:09.123  1702  2395 D WindowManager: order 5 paid',
    pattern: at(`\\d\\d-\\d\\d ${CLOCK} +\\d+ +\\d+ (?<level>[VDIWEFS]) [^:\\n]{1,64}: `),
  },
  {
    name: 'uvicorn',
    example: 'INFO:     order 5 paid',
    pattern: at(`(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL|TRACE): {2,5}`),
  },
  {
    name: 'python_basic',
    example: 'WARNING:shop.orders:order 5 paid',
    pattern: at(`(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):[\\w.]{1,80}:`),
  },
];

/** What may stand before a time: the name of a file, as `grep` and `tail` put it. */
const FILE = String.raw`(?:[\w./-]{1,100}\.(?:log|out|err)[^\s]{0,100} )?`;

/** The time that any logging library begins a line with; `FIELDS` may follow it. */
export const TIME_FIRST: RegExp = at(`${FILE}\\[?${TIME}\\]?[,:]?[ \\t]+`);

export const LEVEL_FIELD: RegExp = at(`\\[?(?<level>${LEVELS})\\]?[:,]?(?:[ \\t]+|$)`);

/** Other fields between a time and the content, in any order. */
export const FIELDS: readonly RegExp[] = [
  at(`${BRACKETS}:?[ \\t]+`),
  // a process or a thread, where more of the header follows
  at(`\\d{1,10}[ \\t]+(?=(?:\\d{1,10}[ \\t]+){0,2}(?:${LEVELS}[ \\t]|\\[|-{1,3} ))`),
  at(String.raw`(?:-{1,3}|\|)[ \t]+`),
  at(String.raw`[\w.$/-]{1,100}(?: [*#]?\d{1,10})? +- `),
];

/** The name of the logger, the last field of a header, where a level stands before it. */
export const LOGGERS: readonly RegExp[] = [
  at(String.raw`[\w.$/#-]{1,100}(?:\[[^\[\]\s]{0,60}\])? {0,40}:(?:[ \t]+|$)`),
  at(`[\\w$-]{1,60}(?:\\.[\\w$-]{1,60}){1,12}[ \\t]+${BRACKETS}[ \\t]+`),
  at(String.raw`(?:[\w.$/-]{1,100}\t)?[\w.$/-]{1,100}:\d+\t`),
  at(String.raw`[\w.$-]{1,40} {3,}`),
];

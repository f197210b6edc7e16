import { withoutEscapes } from '../clusterer/escapes.ts';
import { headerOf } from '../clusterer/headers/index.ts';
import { severityOf } from '../core/severity.ts';
import { zonedTime } from '../clusterer/headers/pieces.ts';

/** What the head of a raw line says, where its words belong to the message and its pattern. */
export type LineHead = { readonly level: string | null; readonly time: bigint | null };

const NONE: LineHead = { level: null, time: null };
/** Bytes in which a level may stand. */
const HEAD = 512;
/** Bytes that are looked at to see whether a line may be logfmt. */
const LOOKED_AT = 48;
const [BACKSLASH, BRACKET, LESS, EQUALS, SPACE, COLON] = [0x5c, 0x5b, 0x3c, 0x3d, 0x20, 0x3a];

const VALUE = String.raw`(?:"(?:[^"\\]|\\.){0,300}"|[^\s"]{0,300})`;
/** logfmt with its level among the first pairs (go-kit, logrus, Grafana's and HashiCorp's programs). */
const LOGFMT = new RegExp(
  `^(?:[\\w.@-]{1,60}=${VALUE}[ \\t]+){0,8}?(?:level|lvl|severity|loglevel|log_level|levelname)="?(?<level>[A-Za-z]{1,12})"?(?:[ \\t,]|$)`,
);
const LOGFMT_TIME =
  /(?:^|[ \t])(?:ts|time|timestamp|t|at|datetime)="?(?<time>\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?)))"?(?:[ \t]|$)/;
/** Monolog's LineFormatter: `[time] channel.LEVEL: text`. */
const MONOLOG = /^\[(?<time>[^\]]{8,40})\] [\w.-]{1,60}\.(?<level>[A-Z]{3,9}): /;
/** A level at the very beginning, in brackets, or in capitals before a colon, a bracket, a dash or white space. */
const IN_BRACKETS = /^(?:\[ ?(?:\d\d:\d\d:\d\d )?(?<level>[A-Za-z]{3,9}) ?\]|<(?<angled>[A-Za-z]{3,9})>)(?:[ \t:[-]|$)/;
const IN_CAPITALS =
  /^(?<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|FATAL|CRITICAL|PANIC|ALERT|EMERG)(?:[ \t]*[:|\][-]|[ \t]|$)/;
/** .NET's console: `fail: Category[0]`. */
const DOTNET = /^(?<level>trce|dbug|info|warn|fail|crit): [\w.+`]{1,200}\[\d{1,9}\]/;
const TIME = String.raw`\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]{8,20}(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?`;
/** Behind a time: Elasticsearch's `[time][WARN ]`, Celery's `[time: WARNING/…]`, Sidekiq's `time pid=1 tid=a WARN:`. */
const BEHIND_TIME = new RegExp(
  `^(?:\\[(?<time>${TIME})(?:\\]\\[|: )(?<level>[A-Z]{3,9})(?: *\\]|/)|${TIME} (?:\\w{1,20}=\\S{1,60} ){1,6}(?<angled>[A-Z]{3,9}):)`,
);
/** MongoDB before 4.4, etcd before 3.4: a letter. */
const LETTER = new RegExp(`^${TIME} (?<level>[TDIWEF])(?:  ?[A-Z]{2,12} +\\[| \\| )`);
/** Words and letters that are levels in these heads alone. */
const SHORT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ trce: 'trace', dbug: 'debug', fail: 'error', crit: 'critical' },
    ...{ VRB: 'trace', INF: 'info', WRN: 'warn', FTL: 'fatal' },
    ...{ T: 'trace', D: 'debug', I: 'info', W: 'warn', E: 'error', F: 'fatal' },
  }),
);
const LEVEL_FIRST = [MONOLOG, DOTNET, IN_BRACKETS, IN_CAPITALS, BEHIND_TIME, LETTER];

/** The head of the JSON token of a text, `bytes[from, to)` without its quotes; `text` decodes it. */
export function lineHead(bytes: Buffer, from: number, to: number, text: () => string): LineHead {
  if (!mayHaveHead(bytes, from, to)) return NONE;
  const head = bytes.subarray(from, Math.min(to, from + HEAD));
  const line = head.includes(BACKSLASH) ? text().slice(0, HEAD) : head.toString();
  if (!line.includes('\u001b')) return levelHead(line);
  const coloured = Buffer.from(line);
  const plain = coloured.subarray(0, withoutEscapes(coloured, 0, coloured.length, coloured));
  const start = plain.findIndex((byte) => byte > SPACE);
  const { level, time } = headerOf(plain, Math.max(0, start), plain.length);
  const own = level === null ? levelHead(plain.toString().trimStart()) : NONE;
  return { level: level ?? own.level, time: time ?? own.time };
}

function levelHead(line: string): LineHead {
  const pairs = LOGFMT.exec(line)?.groups;
  if (pairs !== undefined && isLevel(pairs['level']))
    return { level: lower(pairs['level']), time: zonedTime(LOGFMT_TIME.exec(line)?.groups?.['time'] ?? '') };
  for (const pattern of LEVEL_FIRST) {
    const found = pattern.exec(line)?.groups;
    const word = found?.['level'] ?? found?.['angled'];
    const level = word === undefined ? undefined : (SHORT.get(word) ?? word);
    if (isLevel(level)) return { level: lower(level), time: zonedTime(found?.['time'] ?? '') };
  }
  return NONE;
}

const isLevel = (word: string | undefined): word is string => word !== undefined && severityOf(word) > 0;
const lower = (word: string): string => word.toLowerCase();

/** Cheap, and true for each line in which `levelHead` may find something. */
function mayHaveHead(bytes: Uint8Array, from: number, to: number): boolean {
  const first = bytes[from] as number;
  if (from >= to) return false;
  if (first === BRACKET || first === LESS || first === BACKSLASH || (first >= 0x30 && first <= 0x39)) return true;
  // `fail: `
  if (bytes[from + 4] === COLON) return true;
  if (isCapital(first) && isCapital(bytes[from + 1] as number)) return true;
  const end = Math.min(to, from + LOOKED_AT);
  for (let at = from; at < end; at++) {
    if (bytes[at] === EQUALS) return true;
    if (bytes[at] === SPACE) return false;
  }
  return false;
}

const isCapital = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a;

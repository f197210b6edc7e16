import { SYSLOG_LEVELS } from '../../core/severity.ts';
import { LITERAL, STRING, type Draft } from '../../logs/draft.ts';
import { FixedName } from '../../logs/names.ts';

/** Keywords of the facilities 0 to 23, as VictoriaLogs writes them (RFC 5424, table 1 has the meanings). */
const FACILITIES = [
  'kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp',
  'ntp', 'security', 'console', 'solaris-cron', 'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7',
]; // prettier-ignore
const MAX_PRIORITY = 191;

const FACILITY_WORDS = FACILITIES.map((word) => Buffer.from(word));
const LEVEL_WORDS = SYSLOG_LEVELS.map((word) => Buffer.from(word));
const NUMBERS = FACILITIES.map((_, number) => String(number));

const PRIORITY = new FixedName('priority');
const FACILITY = new FixedName('facility');
const FACILITY_KEYWORD = new FixedName('facility_keyword');
const SEVERITY = new FixedName('severity');
const LEVEL = new FixedName('level');

/** The number of the `<PRI>` at `at`, 0 to 191 without leading zeros (RFC 5424, 6.2.1); -1 where there is none. */
export function priorityAt(bytes: Buffer, at: number, end: number): number {
  if (bytes[at] !== 0x3c) return -1;
  let value = 0;
  let i = at + 1;
  for (; i < end && i < at + 4; i++) {
    const digit = (bytes[i] as number) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const canonical = i - at - 1 === digitsOf(value) && i > at + 1;
  return canonical && value <= MAX_PRIORITY && i < end && bytes[i] === 0x3e ? value : -1;
}

/** How many bytes `<PRI>` has. */
export function priorityLength(priority: number): number {
  return digitsOf(priority) + 2;
}

function digitsOf(value: number): number {
  return value < 10 ? 1 : value < 100 ? 2 : 3;
}

/** Puts in the fields of the `<PRI>` at `at` of the draft's body, all but the level. */
export function putPriority(draft: Draft, priority: number, at: number): void {
  const { names } = draft;
  const facility = priority >> 3;
  const word = FACILITY_WORDS[facility] as Buffer;
  draft.putToken(PRIORITY.in(names), LITERAL, at + 1, at + 1 + digitsOf(priority));
  draft.putLiteral(FACILITY.in(names), NUMBERS[facility] as string);
  draft.putText(FACILITY_KEYWORD.in(names), word, 0, word.length);
  draft.putLiteral(SEVERITY.in(names), NUMBERS[priority & 7] as string);
}

/** Puts in the level of the severity, unless the entry has a string as its level already. */
export function putLevel(draft: Draft, priority: number): void {
  const level = LEVEL.in(draft.names);
  const own = draft.find(level);
  if (own >= 0 && draft.kinds[own] === STRING) return;
  const word = LEVEL_WORDS[priority & 7] as Buffer;
  draft.putText(level, word, 0, word.length);
}

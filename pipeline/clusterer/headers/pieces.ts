import { parseTime } from '../../core/time.ts';

/** Pieces of the regular expressions of headers. None matches a string in two ways, so that a line costs time in proportion to its head. */
export const CLOCK = String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`;
export const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
export const ZONE = String.raw`(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)`;
/** Dates as logging libraries write them: `2024-05-06`, `2024/05/06`, `06.05.2024`, `05-06`, `06 May 2024`, `240506`. */
const DATE = String.raw`(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d(?:[-/.]\d{2,4})?|\d\d? ${MONTH} \d{4})`;
/** A time of a day of a known date, perhaps with its zone; or a time of day alone. */
export const TIME = `(?<time>${DATE}[T ]${CLOCK}(?: ?${ZONE}(?![A-Za-z0-9]))?|${CLOCK}|\\d{6} \\d{6})`;
export const LEVELS =
  '(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|FATAL|CRITICAL|PANIC|Trace|Debug|Info|Notice|Warn|Warning|Error|Fatal|Critical|FINE|FINER|FINEST|CONFIG|LOG|ALERT|EMERG' +
  '|trace|debug|info|notice|warn|warning|error|fatal|crit|critical|alert|emerg)';
/** What brackets hold, with one level of brackets inside. */
export const BRACKETS = String.raw`\[[^\[\]\n]{0,200}(?:\[[^\[\]\n]{0,100}\][^\[\]\n]{0,100}){0,3}\]`;

const CLF = new RegExp(`^(\\d\\d)/(${MONTH})/(\\d{4}):(${CLOCK}) ([+-]\\d{4})$`);
const NAMED = new RegExp(`^(\\d\\d?) (${MONTH}) (\\d{4}) (${CLOCK}) ?(.*)$`);
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const HAS_ZONE = new RegExp(`${ZONE}$`);

/** A header's time in nanoseconds, null where it names no zone or is none. */
export function zonedTime(text: string): bigint | null {
  if (!HAS_ZONE.test(text)) return null;
  const named = CLF.exec(text) ?? NAMED.exec(text);
  const [, day = '', month = '', year = '', clock = '', zone = ''] = named ?? [];
  const iso =
    named === null ? text : `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day.padStart(2, '0')}T${clock}${zone}`;
  return parseTime(iso.replaceAll('/', '-').replace(/ ?(?:UTC|GMT)$/, 'Z'));
}

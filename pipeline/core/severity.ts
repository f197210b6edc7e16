/** Normalised severities, in the order of OpenTelemetry's severity ranges; 0 for an unknown level. */
export const SEVERITIES = ['', 'trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type Severity = 0 | 1 | 2 | 3 | 4 | 5 | 6;

const WORDS: Readonly<Record<string, Severity>> = {
  trace: 1, verbose: 1, finest: 1, finer: 1, silly: 1,
  debug: 2, dbg: 2, fine: 2, config: 2, d: 2,
  info: 3, information: 3, informational: 3, notice: 3, log: 3, i: 3, default: 3, ok: 3, success: 3, http: 3, normal: 3,
  warn: 4, warning: 4, w: 4,
  error: 5, err: 5, severe: 5, failure: 5, e: 5,
  fatal: 6, critical: 6, crit: 6, alert: 6, emerg: 6, emergency: 6, panic: 6, dpanic: 6, f: 6, c: 6,
}; // prettier-ignore

const words = new Map(Object.entries(WORDS));

/** The severity that a level stands for, case-insensitive; 0 when unknown. */
export function severityOf(level: string): Severity {
  return level.length > 16 ? 0 : (words.get(level.toLowerCase()) ?? 0);
}

/** The words, in lower case, that stand for this severity or a higher one. */
export const wordsFrom = (least: Severity): string[] => [...words].flatMap(([word, severity]) => (severity >= least ? [word] : []));

/** The level word of pino's and bunyan's numbers (10 to 60), else null. */
export function pinoLevel(number: number): string | null {
  const word = Number.isInteger(number / 10) ? SEVERITIES[number / 10] : undefined;
  return word === undefined || word === '' ? null : word;
}

/** Names of the syslog severities 0 to 7 (RFC 5424, 6.2.1). */
export const SYSLOG_LEVELS = ['emerg', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'] as const;

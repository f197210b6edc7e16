/** The four levels that are told apart, worst first. */
export const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LevelName = (typeof LEVELS)[number];

const KINDS: readonly (readonly [RegExp, LevelName])[] = [
  [/^(?:e|err|error|fatal|crit|critical|alert|emerg|emergency|panic|severe|f)/i, 'error'],
  [/^(?:w|warn|warning)/i, 'warn'],
  [/^(?:d|dbg|debug|trace|verbose|fine|t)/i, 'debug'],
];

/** Which of the four a level belongs to; what is not known is information. */
export const levelKind = (level: string): LevelName => KINDS.find(([pattern]) => pattern.test(level))?.[1] ?? 'info';

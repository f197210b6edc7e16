import { outputOf, UsageError, type ColorChoice, type Env, type Output, type Sink } from './output.ts';
import { TIMEZONE_HELP, zoneOf, type Zone } from './zone.ts';

/** The flags of every command that prints entries, alerts or patterns. `--format` is what `--output` was first called. */
export const DISPLAY_FLAGS = ['output', 'format', 'timezone', 'color'] as const;

export const DISPLAY_HELP = `  --output F      lines, ndjson or csv (default: lines on a terminal, ndjson elsewhere)
${TIMEZONE_HELP}  --color WHEN    auto (default), always or never; NO_COLOR and FORCE_COLOR count too
`;

/** How results are shown. */
export type Display = { readonly output: Output; readonly format: 'lines' | 'ndjson' | 'csv'; readonly zone: Zone };

/** Reads the flags of the display. Throws UsageError. */
export function displayOf(values: { readonly [name in (typeof DISPLAY_FLAGS)[number]]?: string }, env: Env, to: Sink): Display {
  const { color = 'auto', timezone } = values;
  if (!isChoice(color)) throw new UsageError('--color is auto, always or never.');
  const output = color === 'auto' ? outputOf(to, env) : outputOf(to, env).withColors(color);
  const name = values.output ?? values.format ?? (output.isTerminal ? 'lines' : 'ndjson');
  const format = FORMATS.get(name);
  if (format === undefined) throw new UsageError(`--output is lines, ndjson or csv (got ${JSON.stringify(name)}).`);
  return { output, format, zone: zoneOf(timezone) };
}

const FORMATS: ReadonlyMap<string, Display['format']> = new Map([
  ['lines', 'lines'],
  ['ndjson', 'ndjson'],
  ['json', 'ndjson'],
  ['csv', 'csv'],
]);

const isChoice = (text: string): text is ColorChoice => ['auto', 'always', 'never'].includes(text);

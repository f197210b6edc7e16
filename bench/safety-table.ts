/** What a phase came to: entries/s, and µs of CPU for each entry by process. */
export type Figures = {
  readonly phase: 'ingest' | 'sink' | 'whole';
  readonly perSecond: number;
  readonly micros: Readonly<Record<string, number>>;
};

/** The phases of one round, in the same order for both. */
export type Round = { readonly with: readonly Figures[]; readonly without: readonly Figures[] };

type Spread = { readonly median: number; readonly least: number; readonly most: number };

/** Of an even number of values the median is the mean of the middle two. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? NaN;
  const half = sorted.length / 2;
  return { median: (at(Math.ceil(half) - 1) + at(Math.floor(half))) / 2, least: at(0), most: at(sorted.length - 1) };
}

const total = ({ micros }: Figures): number => Object.values(micros).reduce((sum, value) => sum + value, 0);

const shown = ({ median, least, most }: Spread, digits: number): string =>
  `${median.toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;

const signed = (value: number, digits: number): string => `${value > 0 ? '+' : ''}${value.toFixed(digits)}`;
const shownPercent = ({ median, least, most }: Spread): string => `**${signed(median, 1)} %** (${signed(least, 0)} to ${signed(most, 0)})`;

/**
 * A Markdown table: for each phase what was measured with and without the parts, medians and in brackets the least and the most, and what
 * the parts add. That is the median of the rounds, each of which compares the two with each other, not the difference of the medians.
 */
export function safetyTable(rounds: readonly Round[]): string[] {
  const phases = rounds[0]?.with.map(({ phase }) => phase) ?? [];
  const processes = Object.keys(rounds[0]?.with[0]?.micros ?? {});
  const rows = phases.flatMap((phase, index) => {
    const of = (side: keyof Round): Figures[] => rounds.map((round) => round[side][index] as Figures);
    const pairs = (figure: (figures: Figures) => number): number[] => {
      const without = of('without').map(figure);
      return of('with').map((figures, round) => 100 * (figure(figures) / (without[round] ?? NaN) - 1));
    };
    const line = (side: keyof Round): string => {
      const all = of(side);
      const parts = processes.map((name) => spread(all.map(({ micros }) => micros[name] ?? NaN)).median.toFixed(2));
      const [perSecond, together] = [spread(all.map((one) => one.perSecond)), spread(all.map(total))];
      return `| ${phase}, ${side} | ${shown(perSecond, 0)} | ${parts.join(' | ')} | ${shown(together, 2)} |`;
    };
    const difference = `| difference | ${shownPercent(spread(pairs((one) => one.perSecond)))} | ${processes.map(() => '').join(' | ')} | ${shownPercent(spread(pairs(total)))} |`;
    return [line('with'), line('without'), difference];
  });
  const head = ['measured', 'entries/s', ...processes.map((name) => `${name}, µs`), 'CPU of all, µs an entry'];
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows];
}

/**
 * `npm run bench:simulate`: what to run at 10 GB, 1 TB, 100 TB and 1 PB a day, by the service's own hash, plans, growth of shards and pace of
 * inserts, and by measured constants (`bench/simulation/figures.ts`). The tables are those of docs/scale.md, which `npm run docs` writes.
 *   npm run bench:simulate -- [--json] [--seed 1] [--bytes 5e12 --tenants 3000]
 * The same seed gives the same. `--bytes` and `--tenants`: one day of your own in place of the four.
 */
import { parseArgs } from 'node:util';
import { figuresSection, sectionsOf } from './simulation/report.ts';
import { SCENARIOS, simulate } from './simulation/simulate.ts';

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    bytes: { type: 'string' },
    tenants: { type: 'string', default: '1000' },
  },
});
const numberOf = (name: string, text: string): number => {
  const value = Number(text);
  if (!(value >= 1)) throw new Error(`--${name} must be a number of at least 1 (got ${JSON.stringify(text)}).`);
  return value;
};
const seed = numberOf('seed', flags.seed);
const own =
  flags.bytes === undefined
    ? null
    : { name: flags.bytes, bytes: numberOf('bytes', flags.bytes), tenants: Math.round(numberOf('tenants', flags.tenants)) };
const outcomes = (own === null ? SCENARIOS : [own]).map((scenario) => simulate(scenario, seed));
if (flags.json) console.log(JSON.stringify(outcomes));
else
  for (const { title, head, rows } of [...sectionsOf(outcomes), figuresSection()]) {
    const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
    console.log(
      [
        `\n${title}`,
        ...[head, ...rows].map((row) =>
          row
            .map((cell, at) => cell.padEnd(widths[at] ?? 0))
            .join('  ')
            .trimEnd(),
        ),
      ].join('\n'),
    );
  }

import { valueOf } from './constants.ts';
import { figureOf } from './figure.ts';
import type { Limit, Section } from './limit.ts';

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** The figures of a bound, each with a link to its source; what is no constant behind them. */
function boundOf({ bound, by }: Limit): string {
  const figures = bound.map((constant) => `[${figureOf(valueOf(constant), constant.unit)}](../${constant.file})`);
  return [...figures, ...(by === undefined ? [] : [by])].join(', ');
}

const shownBy = ({ attack = [], test }: Limit): string =>
  [...attack.map((name) => `\`${name}\``), ...(test === undefined ? [] : [`[test](../${test})`])].join(', ');

/** The page of all limits. */
export const limitsPage = (
  sections: readonly Section[],
  table: Table,
): string => `<!-- Made by \`npm run docs\` from docs/limits.ts; edit that file instead. -->

# Limits

Every bound on what is kept, counted or awaited on behalf of a tenant, and what the other tenants see of it. Figures link to the source that
they are read from; one of a process holds in each process. Those of plans are in \`api/tenants/plans.ts\`, [ingest.md](ingest.md#plans),
[live.md](live.md#what-is-not-sent) and [rules.md](rules.md#bounds), variables in [config.md](config.md), attacks in
[reliability.md](reliability.md#one-tenant-against-the-others).
${sections
  .map(
    ({ title, rows }) => `
## ${title}

${table(
  ['What', 'Bound', 'Of', 'Beyond it', 'Others', 'Shown by'],
  rows.map((row) => [row.what, boundOf(row), row.of, row.beyond, row.others, shownBy(row)]),
)}
`,
  )
  .join('')}`;

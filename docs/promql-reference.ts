/** The generated part of docs/promql.md: every function and every aggregation of PromQL. */
import { AGGREGATORS } from '../promql/aggregations/index.ts';
import type { Signature } from '../promql/functions/base.ts';
import { FUNCTIONS } from '../promql/functions/index.ts';
import { typeText } from '../promql/parser/check.ts';

/** `round(instant vector, [scalar])`. */
function callText({ name, args, variadic }: Signature): string {
  const texts = args.map((type, at) => {
    const isLast = at === args.length - 1;
    if (!isLast || variadic === 0) return typeText(type);
    return variadic === 1 ? `[${typeText(type)}]` : `${typeText(type)}, …`;
  });
  return `\`${name}(${texts.join(', ')})\``;
}

const flag = ({ isExperimental }: { readonly isExperimental?: true }): string => (isExperimental === true ? 'yes' : '');

/** A table of functions and one of aggregations. `table` renders a head and its rows. */
export function promqlReference(table: (head: readonly string[], rows: readonly (readonly string[])[]) => string): string {
  const functions = [...FUNCTIONS].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    `### Functions\n\n${table(
      ['Function', 'Gives', 'Type', 'Experimental in Prometheus'],
      functions.map((one) => [callText(one), one.help, typeText(one.returns), flag(one)]),
    )}`,
    `### Aggregations\n\n${table(
      ['Aggregation', 'Gives for each group', 'Parameter', 'Experimental in Prometheus'],
      AGGREGATORS.map((one) => [`\`${one.name}\``, one.help, one.parameter ?? '', flag(one)]),
    )}`,
  ].join('\n\n');
}

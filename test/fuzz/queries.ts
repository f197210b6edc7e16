import { toQueryError } from '../../api/query/run.ts';
import { LogsqlLimitError } from '../../logsql/base/errors.ts';
import type { RunContext } from '../../logsql/base/types.ts';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import { filters } from '../../logsql/filters/index.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { pipes } from '../../logsql/pipes/index.ts';
import { planWhole } from '../../logsql/planner/prepare.ts';
import { LOGS } from '../../logsql/sql/logs-table.ts';
import { SPANS } from '../../logsql/sql/spans-table.ts';
import { stats } from '../../logsql/stats/index.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { renderSql, type Sql } from '../../pipeline/core/sql.ts';
import { MAX_TIME, MIN_TIME } from '../../pipeline/core/time.ts';
import { randomEntries } from '../equal/entries.ts';
import { randomFilter, type Source } from '../equal/filters.ts';
import { randomPipes } from '../equal/pipes.ts';
import { memoryFor, NOW, statementOf } from '../logsql/support.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';
import { rounds, type RoundsOptions, type RoundsReport } from './rounds.ts';

const ENTRIES = 12;
const LIMITS = { maxRows: 2000, maxBytes: 1_000_000 };
/** A query that is given less than this ends within it. Milliseconds. */
const TIME_MS = 1000;
/** What grammar is made of: pieces that take the place of others. */
const WORDS = [
  ...[
    '|',
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ':=',
    ':~',
    '"',
    '`',
    "'",
    '\\',
    '*',
    '!',
    '-',
    '>',
    '<=',
    '=',
    '#',
    ' or ',
    ' and ',
    ' not ',
  ],
  ...[
    'in(',
    'seq(',
    'range[',
    'i(',
    'len_range(',
    'eq_field(',
    '_time:',
    '_stream:',
    '_msg:~',
    ' | stats by (',
    ' | filter ',
    ' | sort by (',
  ],
  ...[
    ' | limit 1',
    ' as ',
    ' if (',
    ' by (',
    ' from ',
    ' offset ',
    '9223372036854775808',
    '1e400',
    '-0',
    'NaN',
    '1ns',
    '5m',
    '0x',
    '2024-13',
  ],
  ...["' OR 1=1 --", '{p0:String}', '/*', ';', '\0', '\ud800', '__proto__', '(?:a*)*b', '[z-a]', '(?<n>x)', '<a>', '%'],
].map((word) => Buffer.from(word));

/** What a query is made of: those of the examples, and random ones. */
export const EXAMPLES = [...pipes.members, ...filters.members, ...stats.members].flatMap(({ examples }) =>
  examples.map(({ query }) => query),
);
const ENTRIES_OF_ALL = randomEntries(new Random(34), ENTRIES);

function whole(random: Random): string {
  if (random.below(3) === 0) return random.pick(EXAMPLES);
  const source: Source = { random, entries: ENTRIES_OF_ALL, isWhole: true };
  return randomFilter(source, 2) + randomPipes(source).text;
}

/** A text that is damaged, once in three times by words of the grammar. */
export function damagedText(text: string, other: string, random: Random, words: readonly Buffer[]): string {
  if (random.below(8) === 0) return text;
  if (random.below(3) > 0) return mutate(Buffer.from(text), Buffer.from(other), random).toString('utf8');
  let damaged = text;
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const [from, most] = [random.below(damaged.length + 1), random.below(2) * random.below(6)];
    damaged = damaged.slice(0, from) + String(random.pick(words)) + damaged.slice(from + most);
  }
  return damaged;
}

/** Strings, identifiers and comments are what a text of a tenant could break out of: a statement is of our own texts alone. */
const LITERALS = /'(?:[^'\\]|\\.|'')*'|`[^`]*`|"[^"\\]*"/gs;
const FOREIGN = /[^\w\s(){}[\],.:+\-*/%=<>!?|&@^~]|--|\/\*|;/;

function checkStatement(statement: Sql): void {
  const { text } = renderSql(statement);
  const found = FOREIGN.exec(text.replace(LITERALS, '0'));
  if (found !== null) throw new Error(`The statement has ${JSON.stringify(found[0])} in it: ${text}`);
}

/** Reads, plans and evaluates a query, as a query worker does, and gives its status. Throws where that is another one than may be. */
async function runLogsql(text: string): Promise<string> {
  const memory = memoryFor(LIMITS, () => performance.now());
  memory.until = performance.now() + TIME_MS;
  const context: RunContext = { memory, start: MIN_TIME, end: MAX_TIME };
  try {
    const query = parseQuery(text, { now: NOW });
    for (const table of [LOGS, SPANS]) {
      const options = { table, tenantId: 7, ...context, widest: context };
      const plan = await planWhole(query, options, () => Promise.resolve([]));
      if (plan.kind !== 'gather') checkStatement(statementOf(plan.kind === 'expand' ? plan.matching : plan, 10));
    }
    await evaluate(query, ENTRIES_OF_ALL, context);
    return '200';
  } catch (thrown) {
    const error = toQueryError(thrown);
    if (thrown instanceof LogsqlLimitError) return '504 limit';
    if (!(error instanceof HttpError) || error.status < 400 || error.status >= 500) throw thrown;
    return String(error.status);
  } finally {
    memory.clear();
  }
}

/** Damaged queries in LogsQL, through the parser, the planner and the evaluation in memory. */
export const fuzzLogsql = (options: RoundsOptions): Promise<RoundsReport> =>
  rounds(options, (random) => {
    const text = damagedText(whole(random), random.pick(EXAMPLES), random, WORDS);
    return { what: JSON.stringify(text), run: () => runLogsql(text) };
  });

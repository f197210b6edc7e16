/** Pipes after groups that look random: filters over keys and results, arithmetic, new names, sorts by several keys and limits. */
import { fieldOf, oneIn, randomFilter, textFor, written, type Source } from './filters.ts';

/** The results of groups: those that are whole numbers, and others. */
const RESULTS: Readonly<Record<string, (source: Source) => string>> = {
  n: () => 'count()',
  u: (source) => `count_uniq(${written(source, fieldOf(source))})`,
  e: (source) => `count_empty(${written(source, fieldOf(source))}, nosuch)`,
  l: (source) => `sum_len(${written(source, fieldOf(source))})`,
  s: (source) => `${source.random.pick(['sum', 'avg'])}(${written(source, fieldOf(source))})`,
  m: (source) => `${source.random.pick(['max', 'min', 'median', 'row_any'])}(${written(source, fieldOf(source))})`,
  p: (source) => source.random.pick(['rate()', 'count(level)', 'histogram(n)']),
};
const SPANS = [':5m', ':1s', ':1h', ':day', ':1ms', ''];
const NUMBERS = ['0', '1', '2', '3', '5', '10', '20', '0.5', '100', '-1', '1KB'];

type Groups = { readonly source: Source; readonly keys: string[]; readonly numbers: string[]; readonly names: string[] };

const small = ({ random }: Source): string => random.pick(['1', '2', '3', '5', '10', '50']);
const number = ({ source: { random } }: Groups): string => random.pick(NUMBERS);
const ofNumbers = ({ source: { random }, numbers }: Groups): string => random.pick(numbers);
/** A field that is there, mostly; now and then one that is not. */
function field(groups: Groups): string {
  const { source, keys, numbers, names } = groups;
  if (oneIn(source, 12)) return written(source, fieldOf(source));
  return written(source, source.random.pick(oneIn(source, 2) ? numbers : [...keys, ...names]));
}

/** One condition on a field. */
function condition(groups: Groups): string {
  const { source } = groups;
  const { random } = source;
  // times and streams have filters of their own
  const texts = groups.keys.filter((key) => !['_time', '_stream'].includes(key));
  const name = oneIn(source, 3) && texts.length > 0 ? random.pick(texts) : ofNumbers(groups);
  const value = (): string => (groups.keys.includes(name) ? written(source, textFor(source, name)) : number(groups));
  const test = random.pick([
    () => random.pick(['>', '>=', '<', '<=']) + number(groups),
    () => random.pick(['>', '<=', '=', '!=', '']) + value(),
    () => `range${random.pick(['[', '('])}${number(groups)}, ${number(groups)}${random.pick([']', ')'])}`,
    () => random.pick(['*', '""', '~"[13]"', '!~"^1"', 'i(a)']),
    () => `in(${value()}, ${value()}, 1, "")`,
    () => `${random.pick(['eq_field', 'lt_field', 'le_field'])}(${ofNumbers(groups)})`,
    () => `len_range(${random.pick(['0', '1', '2'])}, ${random.pick(['1', '3', 'inf'])})`,
  ])();
  return `${written(source, name)}:${test}`;
}

function filter(groups: Groups): string {
  const { source } = groups;
  if (oneIn(source, 8)) return randomFilter(source, 1);
  const one = (): string => condition(groups);
  return source.random.pick([one, one, one, () => `${one()} ${one()}`, () => `(${one()} or ${one()})`, () => `!(${one()}) ${one()}`])();
}

const EXPRESSIONS: readonly ((groups: Groups) => string)[] = [
  (groups) => `${ofNumbers(groups)} ${groups.source.random.pick(['+', '-', '*', '/', '/', '%', '^'])} ${ofNumbers(groups)}`,
  (groups) =>
    `${ofNumbers(groups)} ${groups.source.random.pick(['*', '/', '/', '%', 'default'])} ${groups.source.random.pick(['3', '0.7', '1e9', '0', '-7'])}`,
  (groups) => `${groups.source.random.pick(['round', 'abs', 'floor', 'ln'])}(${ofNumbers(groups)} / 7)`,
  (groups) => `max(${ofNumbers(groups)}, ${field(groups)}, 2)`,
  (groups) => `(${field(groups)} - 3) * 0.1`,
  (groups) => `${ofNumbers(groups)} / (${ofNumbers(groups)} - ${number(groups)}) * 1e25`,
];

/** Keys of a sort, often such that the first does not decide. */
function sort(groups: Groups): string {
  const { source } = groups;
  const { random } = source;
  const keys = Array.from({ length: 1 + random.below(3) }, () => field(groups) + random.pick(['', '', ' desc']));
  const partition = oneIn(source, 12) ? ` partition by (${field(groups)})` : '';
  const limit = partition !== '' || !oneIn(source, 5) ? ` limit ${small(source)}` : '';
  const offset = oneIn(source, 4) ? ` offset ${small(source)}` : '';
  return `sort by (${keys.join(', ')})${random.pick(['', '', ' desc'])}${partition}${offset}${limit}${oneIn(source, 6) ? ' rank as place' : ''}`;
}

function renamed(groups: Groups): string {
  const { source, numbers, names } = groups;
  const from = field(groups);
  const to = source.random.pick(['x', 'y', 'n', 'u', '_time', 'level']);
  (numbers.includes(from) && to !== '_time' ? numbers : names).push(to);
  return `${source.random.pick(['copy', 'rename'])} ${from} as ${to}${oneIn(source, 4) ? `, ${to} as z` : ''}`;
}

const STEPS: readonly ((groups: Groups) => string)[] = [
  (groups) => `filter ${filter(groups)}`,
  (groups) => `filter ${filter(groups)}`,
  (groups) => `filter ${filter(groups)}`,
  (groups) => {
    const name = groups.source.random.pick(['r', 'q', 'r', 'n', '_time']);
    const text = `math ${groups.source.random.pick(EXPRESSIONS)(groups)} as ${name}`;
    if (name !== '_time') groups.numbers.push(name, name);
    return text;
  },
  renamed,
  sort,
  sort,
  sort,
  ({ source }) => `limit ${small(source)}`,
  ({ source }) => `offset ${small(source)}${oneIn(source, 2) ? '' : ` | limit ${small(source)}`}`,
  (groups) => `fields ${[field(groups), field(groups), ...(oneIn(groups.source, 3) ? [] : groups.numbers)].join(', ')}`,
  (groups) => `delete ${field(groups)}`,
  (groups) => `${groups.source.random.pick(['len', 'hash'])}(${field(groups)}) as x`,
  (groups) => `replace ("1", "23") at ${field(groups)}`,
  (groups) => `format "<${groups.source.random.pick(groups.keys)}>-<n>" as x`,
];

/** ` | stats by (…) … | …`: groups, and from one to four pipes behind them; the order of rows is always defined. */
export function randomGroupPipes(source: Source): string {
  const { random } = source;
  const keys = [
    ...new Set(
      Array.from({ length: 1 + random.below(2) }, () => (oneIn(source, 3) ? '_time' : oneIn(source, 12) ? '_stream' : fieldOf(source))),
    ),
  ];
  const names = Object.keys(RESULTS).filter((name) => (name === 'n' ? !oneIn(source, 8) : oneIn(source, 3)));
  const results = names.length === 0 ? ['n'] : names;
  const free = results.filter((name) => !keys.includes(name));
  const calls = (free.length === 0 ? ['c'] : free).map(
    (name) => `${RESULTS[name]?.(source) ?? 'count()'}${oneIn(source, 6) ? ` if (${randomFilter(source, 1)})` : ''} as ${name}`,
  );
  const by = keys.map((key) => written(source, key) + (key === '_time' ? random.pick(SPANS) : ''));
  const groups: Groups = { source, keys: [...keys], numbers: free.length === 0 ? ['c'] : [...free], names: [...keys] };
  let text = ` | stats by (${by.join(', ')}) ${calls.join(', ')}`;
  for (let left = 1 + random.below(4); left > 0; left -= 1) text += ` | ${random.pick(STEPS)(groups)}`;
  return text;
}

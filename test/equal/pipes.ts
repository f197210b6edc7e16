/** Pipes that look random, over the whole grammar; after a pipe whose rows come in no order none follows that would show it. */
import { randomGroupPipes } from './groups.ts';
import { randomFilter, fieldOf, oneIn, regexpFor, textFor, written, type Source } from './filters.ts';

/** The text of pipes, and whether the order of the rows is defined. */
export type RandomPipes = { readonly text: string; readonly isOrdered: boolean };
type State = { isOrdered: boolean; readonly names: string[] };

/** A field of the rows as they are by now. */
const name = (source: Source, state: State): string =>
  state.names.length > 0 && !oneIn(source, 5) ? source.random.pick(state.names) : fieldOf(source);
const field = (source: Source, state: State): string => written(source, name(source, state));
const fields = (source: Source, state: State, most: number): string =>
  [...new Set(Array.from({ length: 1 + source.random.below(most) }, () => name(source, state)))]
    .map((text) => written(source, text))
    .join(', ');
const patterns = (source: Source, state: State): string =>
  oneIn(source, 6) ? source.random.pick(['*', 'k8s.*', 'a*, n']) : fields(source, state, 3);
const condition = (source: Source): string => `if (${randomFilter(source, 1)})`;
const maybeIf = (source: Source): string => (oneIn(source, 3) ? ` ${condition(source)}` : '');
const small = ({ random }: Source): string => random.pick(['1', '2', '3', '5', '10', '50']);

const BUCKETS = [':5', ':0.5', ':10KiB', ':1s', ':/24', ':5 offset 2', ':1h', ''];
const TIME_BUCKETS = [':5m', ':1s', ':1h', ':day', ':week', ':month', ':year', ':1d offset 2h', ':7m offset -1m', ':1ms', ''];

function groups(source: Source, state: State): { readonly text: string; readonly names: readonly string[] } {
  const names = [
    ...new Set(
      Array.from({ length: source.random.below(3) }, () =>
        oneIn(source, 3) ? '_time' : oneIn(source, 8) ? '_stream' : name(source, state),
      ),
    ),
  ];
  const list = names.map(
    (text) => written(source, text) + source.random.pick(text === '_time' ? TIME_BUCKETS : oneIn(source, 2) ? BUCKETS : ['']),
  );
  return { text: names.length === 0 ? '' : `by (${list.join(', ')}) `, names };
}

/** Calls whose results do not depend on the order of rows. */
const CALLS: readonly ((source: Source, state: State) => string)[] = [
  () => 'count()',
  (source, state) => `count(${patterns(source, state)})`,
  (source, state) => `count_uniq(${patterns(source, state)})${oneIn(source, 4) ? ` limit ${small(source)}` : ''}`,
  (source, state) => `count_empty(${patterns(source, state)})`,
  (source, state) => `sum(${patterns(source, state)})`,
  (source, state) => `avg(${patterns(source, state)})`,
  (source, state) => `sum_len(${patterns(source, state)})`,
  () => 'rate()',
  (source, state) => `rate_sum(${fields(source, state, 2)})`,
  (source, state) => `histogram(${fields(source, state, 2)})`,
  (source, state) => `count_uniq_hash(${fields(source, state, 2)})`,
  (source, state) => `min(${patterns(source, state)})`,
  (source, state) => `max(${patterns(source, state)})`,
  (source, state) => `min(${field(source, state)})`,
  (source, state) => `max(${field(source, state)})`,
  (source, state) => `median(${patterns(source, state)})`,
  (source, state) => `quantile(${source.random.pick(['0', '0.1', '0.5', '0.99', '1'])}, ${fields(source, state, 2)})`,
  (source, state) => `uniq_values(${patterns(source, state)})${oneIn(source, 3) ? ` limit ${small(source)}` : ''}`,
  (source, state) => `uniq_values(${fields(source, state, 2)})`,
];
/** Those that take the first of rows, or all of them as they come. */
const ORDERED_CALLS: readonly ((source: Source, state: State) => string)[] = [
  (source, state) => `values(${patterns(source, state)})${oneIn(source, 3) ? ` limit ${small(source)}` : ''}`,
  (source, state) => `row_min(${field(source, state)}, ${fields(source, state, 2)})`,
  (source, state) => `row_max(${field(source, state)}, ${fields(source, state, 2)})`,
  (source, state) => `row_max(${field(source, state)})`,
  (source, state) => `row_any(${fields(source, state, 2)})`,
  (source, state) => `json_values(${fields(source, state, 2)})${oneIn(source, 2) ? ` limit ${small(source)}` : ''}`,
  (source, state) => `values(${fields(source, state, 2)}) limit ${small(source)}`,
];

function stats(source: Source, state: State): string {
  const by = groups(source, state);
  const calls = Array.from({ length: 1 + source.random.below(3) }, (_none, index) => {
    const list = state.isOrdered && oneIn(source, 2) ? ORDERED_CALLS : CALLS;
    return `${source.random.pick(list)(source, state)}${maybeIf(source)} as r${String(index)}`;
  });
  state.isOrdered = true;
  state.names.splice(0, Infinity, ...by.names, ...calls.map((_call, index) => `r${String(index)}`));
  return `${source.random.pick(['stats ', 'stats ', ''])}${by.text}${calls.join(', ')}`;
}

function sort(source: Source, state: State): string {
  const keys = Array.from(
    { length: 1 + source.random.below(2) },
    () => `${oneIn(source, 3) ? '_time' : field(source, state)}${source.random.pick(['', ' desc', ' asc'])}`,
  );
  const limit = state.isOrdered && oneIn(source, 2) ? ` limit ${small(source)}` : '';
  const partition = limit !== '' && oneIn(source, 4) ? ` partition by (${fields(source, state, 2)})` : '';
  const offset = state.isOrdered && oneIn(source, 4) ? ` offset ${small(source)}` : '';
  const rank = state.isOrdered && oneIn(source, 4) ? ' rank as place' : '';
  return `sort by (${keys.join(', ')})${source.random.pick(['', '', ' desc'])}${partition}${offset}${limit}${rank}`;
}

const EXPRESSIONS: readonly ((source: Source, state: State) => string)[] = [
  (source, state) =>
    `${field(source, state)} ${source.random.pick(['+', '-', '*', '/', '%', '^', '&', 'or', 'xor', 'default'])} ${source.random.pick(['2', '1.5', '1KB', 'n'])}`,
  (source, state) => `round(${field(source, state)}, 0.1)`,
  (source, state) => `${source.random.pick(['abs', 'ceil', 'floor', 'ln', 'exp', 'round'])}(${field(source, state)})`,
  (source, state) => `max(${fields(source, state, 3)}) - min(n, m)`,
  (source, state) => `(-${field(source, state)} + 1) / now()`,
  (source, state) => `(${field(source, state)} + ${field(source, state)}) / ${source.random.pick(['2', '3', '0.7', '1ms', '-1e-9'])}`,
  (source, state) => `1 / ${source.random.pick(['min', 'max'])}(0, ${fields(source, state, 3)}) default ${field(source, state)}`,
  (source, state) => `abs(${field(source, state)}) * 1e18 as y, y - ceil(${field(source, state)})`,
];

/** Pipes that give one row for each, or none. */
const ROW_PIPES: readonly ((source: Source, state: State) => string)[] = [
  (source, state) => {
    const list = patterns(source, state);
    state.names.splice(0, Infinity, ...list.split(', ').filter((text) => /^[a-z_]+$/.test(text)));
    return `${source.random.pick(['fields', 'keep'])} ${list}`;
  },
  (source, state) => `${source.random.pick(['delete', 'rm', 'drop'])} ${patterns(source, state)}`,
  (source) => `${source.random.pick(['filter ', 'where ', ''])}${randomFilter(source, 1)}`,
  (source) => `filter ${randomFilter(source, 2)}`,
  (source, state) => `copy ${field(source, state)} as ${field(source, state)}`,
  (source, state) => `rename ${field(source, state)} as ${source.random.pick(['x', 'a', 'x*', 'level'])}`,
  () => 'rename k8s.* as k.*',
  (source, state) =>
    `extract${maybeIf(source)} ${source.random.pick(['"<x>=<y> "', '"took <took>ms"', '"id=<a>"', '"<_> <x>"', '"<x>.<y>"'])} from ${field(source, state)}${source.random.pick(['', ' keep_original_fields', ' skip_empty_results'])}`,
  (source, state) => `extract_regexp${maybeIf(source)} "(?P<x>\\\\d+)[^a-z](?P<y>\\\\w*)" from ${field(source, state)}`,
  (source, state) => `replace${maybeIf(source)} (${written(source, textFor(source, '_msg'))}, "<X>") at ${field(source, state)}`,
  (source, state) =>
    `replace_regexp${maybeIf(source)} (${JSON.stringify(regexpFor(source, '_msg'))}, "[$0]") at ${field(source, state)} limit 3`,
  (source, state) =>
    `format${maybeIf(source)} "<${source.random.pick(['', 'uc:', 'lc:', 'q:', 'hexencode:', 'duration:', 'time:', 'ipv4:', 'urlencode:', 'base64decode:'])}${source.random.pick(['a', 'n', '_msg', 'took', 'ip'])}>/<b>" as ${field(source, state)}`,
  (source, state) => `math ${source.random.pick(EXPRESSIONS)(source, state)} as ${source.random.pick(['x', 'n', 'a'])}`,
  (source, state) =>
    `unpack_json${maybeIf(source)} from ${field(source, state)}${source.random.pick(['', ' fields (a, foo)', ' result_prefix "j."', ' keep_original_fields'])}`,
  (source, state) => `unpack_logfmt from ${field(source, state)}${source.random.pick(['', ' result_prefix "l."', ' skip_empty_results'])}`,
  (source, state) => `unpack_syslog from ${field(source, state)}`,
  (source, state) => `unpack_words from ${field(source, state)} as x${source.random.pick(['', ' drop_duplicates'])}`,
  (source, state) => `pack_json${source.random.pick(['', ' fields (a, n)', ' fields (k8s.*)'])} as ${field(source, state)}`,
  (source, state) => `pack_logfmt fields (${fields(source, state, 2)}) as x`,
  (source, state) => `${source.random.pick(['len', 'hash', 'json_array_len'])}(${field(source, state)}) as x`,
  (source, state) => `collapse_nums${maybeIf(source)} at ${field(source, state)}${source.random.pick(['', ' prettify'])}`,
  (source, state) => `decolorize ${field(source, state)}`,
  () => 'drop_empty_fields',
  (source, state) => `unroll${maybeIf(source)} by (${fields(source, state, 2)})`,
];

/** What stands before a group in its own statement: pipes that SQL says, with results that groups then look at. */
const COMPUTED: readonly ((source: Source, state: State) => string)[] = [
  (source, state) => `extract${maybeIf(source)} ${source.random.pick(PATTERNS)} from ${field(source, state)}${source.random.pick(OPTIONS)}`,
  (source, state) =>
    `extract ${source.random.pick(PATTERNS)} from ${source.random.pick(['_msg', "q'", 'a b', 'js', 'k8s.pod']).replace(/^.*[^\w.].*$/, JSON.stringify)}${later(state, 'x', 'y')}`,
  (source, state) =>
    `copy ${field(source, state)} as x, ${field(source, state)} as ${source.random.pick(['y', 'a', 'level'])}${later(state, 'x', 'y')}`,
  (source, state) => `rename ${field(source, state)} as ${source.random.pick(['x', 'host', 'n'])}, x as y${later(state, 'x', 'y')}`,
  (source, state) => `delete ${patterns(source, state)}`,
  (source, state) => `fields ${fields(source, state, 3)}, a, n, took`,
  (source, state) => `${source.random.pick(['len', 'len', 'hash', 'json_array_len'])}(${field(source, state)}) as x${later(state, 'x')}`,
  (source, state) => {
    const at = field(source, state);
    const from = source.random.pick([textFor(source, '_msg'), 'a', '1', '.', ' ', '0']);
    return `replace${maybeIf(source)} (${JSON.stringify(from)}, ${source.random.pick(['""', '"<X>"', '"5"', '"ä"'])}) at ${at}${source.random.pick(['', ' limit 1', ' limit 2'])}`;
  },
  (source, state) =>
    `format${maybeIf(source)} "<${source.random.pick(['', '', 'hexencode:', 'base64encode:', 'uc:', 'nosuch:'])}${source.random.pick(['a', 'n', '_msg', 'took', '_time'])}>${source.random.pick(['', '/', ' ä', '&lt;'])}<b>" as x${source.random.pick(OPTIONS)}${later(state, 'x')}`,
  (source, state) => `math ${source.random.pick(EXPRESSIONS)(source, state)} as x${later(state, 'x')}`,
  (source, state) =>
    `unpack_json${maybeIf(source)} from ${oneIn(source, 2) ? 'js' : field(source, state)} fields (${source.random.pick(['a', 'foo, n', 'a, b.c', 'n.a, a.b, "t"'])})${source.random.pick(['', ' result_prefix "x"', ...OPTIONS])}${later(state, 'foo', 'b.c', 'xa')}`,
  (source, state) =>
    `filter ${field(source, state)}:${source.random.pick(['*', '""', '>5', '~"[0-9]"', '=1', 'foo', 'i(a)', 'in(1, 5m, "")'])}`,
  (source) => `filter ${randomFilter(source, 1)}`,
];
const PATTERNS = [
  '"<x>=<y> "',
  '"took <x>ms"',
  '"id=<x>"',
  '"<_> <x>"',
  '"<x>.<y>"',
  '"<plain:x> <y>"',
  '\'"a":<x>,<_>:<y>}\'',
  "'msg=<x> took=<y>'",
  '"<x>\\n<x>"',
  "'<_>:<x>'",
];
const OPTIONS = ['', '', ' keep_original_fields', ' skip_empty_results'];
/** Groups behind it look at these fields mostly. */
function later(state: State, ...names: readonly string[]): string {
  state.names.push(...names);
  return '';
}

/** Pipes that group or count. */
const GROUPS: readonly ((source: Source, state: State) => string)[] = [
  stats,
  stats,
  stats,
  (source, state) =>
    ordered(
      state,
      ['hits'],
      `uniq by (${keys(source, state)})${source.random.pick(['', ' with hits'])}${source.random.pick(['', ' limit 2', ' limit 20'])}`,
    ),
  (source, state) => unordered(state, ['name', 'hits'], 'field_names'),
  (source, state) => ordered(state, ['hits'], `field_values ${field(source, state)}${source.random.pick(['', ' limit 3'])}`),
  (source, state) => {
    const list = fields(source, state, 2);
    return ordered(
      state,
      ['hits'],
      `top ${source.random.pick(['100000', '100000', '3'])} by (${list})${source.random.pick(['', ' rank'])}`,
    );
  },
  (_source, state) => unordered(state, ['field_name', 'field_value', 'hits'], 'facets 1000'),
];

const keys = (source: Source, state: State): string => (oneIn(source, 5) ? '_stream' : fields(source, state, 2));

function ordered(state: State, names: readonly string[], text: string): string {
  state.isOrdered = true;
  state.names.push(...names);
  return text;
}

function unordered(state: State, names: readonly string[], text: string): string {
  state.isOrdered = false;
  state.names.push(...names);
  return text;
}

/** Pipes that look at the order of rows. */
const ORDERED: readonly ((source: Source, state: State) => string)[] = [
  sort,
  sort,
  (source) => `${source.random.pick(['limit', 'head'])} ${small(source)}`,
  (source) => `${source.random.pick(['offset', 'skip'])} ${small(source)}`,
  (source, state) => `${source.random.pick(['first', 'last'])} ${small(source)} by (${field(source, state)}, _time)`,
  (source, state) => {
    const key = field(source, state);
    state.isOrdered = false;
    return `join by (${key}) (${randomFilter(source, 1)} | stats by (${key}) count() joined)${source.random.pick(['', ' inner', ' prefix "p."'])}`;
  },
  (source, state) => {
    state.isOrdered = false;
    return `union (${randomFilter(source, 1)})`;
  },
];

/** A sort of entries alone. */
export const randomSort = (source: Source): RandomPipes => ({
  text: ` | ${sort(source, { isOrdered: true, names: [] })}`,
  isOrdered: true,
});

/** From none to five pipes, each with ` | ` in front of it. */
export function randomPipes(source: Source): RandomPipes {
  if (oneIn(source, 6)) return { text: randomGroupPipes(source), isOrdered: true };
  const state: State = { isOrdered: true, names: [] };
  let text = '';
  if (oneIn(source, 40)) text += ` | stream_context before ${small(source)} after ${small(source)}`;
  if (oneIn(source, 3)) {
    for (let left = 1 + source.random.below(3); left > 0; left -= 1) text += ` | ${source.random.pick(COMPUTED)(source, state)}`;
    text += ` | ${source.random.pick(GROUPS)(source, state)}`;
  }
  for (let left = source.random.below(text === '' ? 5 : 2); left > 0; left -= 1) {
    const kind = source.random.below(10);
    const list = kind < 4 ? ROW_PIPES : kind < 7 || !state.isOrdered ? GROUPS : ORDERED;
    text += ` | ${source.random.pick(list)(source, state)}`;
  }
  return { text, isOrdered: state.isOrdered };
}

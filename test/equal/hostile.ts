/** Queries that try to see what is not theirs: pieces of SQL, names of columns, ids and labels of others, and what mutation makes of them. */
import { tokenize } from '../../logsql/base/lexer.ts';
import { randomFilter, type Source } from './filters.ts';
import { randomPipes } from './pipes.ts';

/** What the attacker knows of the other tenant: its number, its streams' ids and a text of its labels. */
export type Target = { readonly tenantId: number; readonly streamIds: readonly string[]; readonly label: string };

const SQL: readonly string[] = [
  ...[
    "' OR 1=1 --",
    "') OR (tenant_id > 0) --",
    '" OR "1"="1',
    '`tenant_id`',
    '\\',
    "\\'",
    '{p0:String}',
    '{p1:UInt32}',
    '/*',
    '*/',
    ';',
    '--',
  ],
  ...[
    "x' UNION ALL SELECT * FROM logs --",
    '1) OR 1 = 1',
    "'; DROP TABLE logs; --",
    "fields['x']",
    'logs.tenant_id',
    '%',
    '\0',
    '\n',
    '${1}',
    '?',
  ],
  ...[
    "' SETTINGS log_comment='2",
    'SELECT 1',
    "getSetting('log_comment')",
    'tenant_id = 2',
    ') FORMAT JSON',
    '\u2019',
    '\ufeff',
    "\\u0027 or '1'='1",
  ],
];
const COLUMNS = [
  'tenant_id',
  'stream_id',
  'kafka_off',
  'kafka_part',
  'json_keys',
  'fields',
  'labels',
  'severity',
  'arrived',
  '_part',
  '_stream',
  '_stream_id',
  'day',
  '*',
];

const quoted = (text: string): string => JSON.stringify(text);

/** Filters about the other tenant. */
function attacks({ tenantId, streamIds, label }: Target, { random }: Source): readonly string[] {
  const column = random.pick(COLUMNS.slice(0, -1));
  const id = random.pick(streamIds);
  const tenant = String(tenantId);
  const anyTime = 'options(ignore_global_time_filter=true) ';
  return [
    `tenant_id:=${tenant}`,
    `tenant_id:in(${tenant}, *)`,
    `${quoted(column)}:>=0`,
    `${quoted(column)}:*`,
    `${quoted(column)}:=${quoted(random.pick(SQL))}`,
    `${quoted(random.pick(SQL))}:=${quoted(random.pick(SQL))}`,
    `${quoted(random.pick(SQL))}:~${quoted(random.pick(['.', '.*', '(?s).*']))}`,
    `_stream_id:${id}`,
    `_stream_id:in(${streamIds.join(', ')})`,
    `_stream_id:in(* | fields _stream_id)`,
    `_stream_id:in(${anyTime}_time:100y | fields _stream_id)`,
    `_stream_id:~${quoted(id.slice(0, 16))}`,
    `{app=${quoted(label)}}`,
    `{tenant_id=${quoted(tenant)}}`,
    `{tenant_id!="" or app=~".*"}`,
    `_stream:{${quoted(random.pick(SQL))}=~".*"}`,
    `{app in (${quoted(label)}, ${quoted(random.pick(SQL))})}`,
    `_msg:in(${anyTime}* | fields _msg)`,
    `${anyTime}*`,
    `${anyTime}_time:[1900,2262]`,
    `_time:[1900-01-01T00:00:00Z, 2262-01-01T00:00:00Z]`,
    `!tenant_id:=1`,
    `tenant_id:eq_field(${quoted(column)})`,
    `* or tenant_id:${tenant}`,
    `(* or (${quoted(random.pick(SQL))}))`,
    `contains_any(${anyTime}* | uniq by (_msg))`,
    `${random.pick(['', '!'])}${quoted(column)}:in(${anyTime}${random.pick([`tenant_id:=${tenant}`, '*', `_stream_id:${id}`])} | uniq by (${quoted(column)}))`,
    `${quoted(column)}:in(${anyTime}_msg:in({app=${quoted(label)}} | fields _msg) | len(${quoted(random.pick(SQL))}) as x | fields x)`,
  ];
}

const PIPES = (target: Target, source: Source): readonly string[] => {
  const { random } = source;
  const filter = random.pick(attacks(target, source));
  const column = quoted(random.pick(COLUMNS.slice(0, -1)));
  return [
    `union (${filter})`,
    `join by (app) (${filter})`,
    `join by (${column}) (${filter} | stats by (${column}) count() n) inner`,
    `stats by (${column}) count() n, uniq_values(_msg) v`,
    `stats count() n, uniq_values(*) v, min(${column}), max(${quoted(random.pick(SQL))})`,
    `stats count() if (${filter}) n`,
    `uniq by (${column}, _stream_id)`,
    `top 10 by (${column})`,
    `fields ${random.pick(COLUMNS)}, _stream_id`,
    'field_names',
    `field_values ${column}`,
    'facets 100',
    `filter ${filter}`,
    `stream_context before 10 after 10 time_window 100y`,
    `sort by (${column}) limit 5`,
    `stats json_values(*) j`,
    `format "<${random.pick(COLUMNS)}>" as x`,
    `pack_json as j`,
  ];
};

/** A text for the other tenant's rows: an attack, a query of the whole grammar, or what mutation makes of both. */
export function hostileQuery(source: Source, target: Target): string {
  const { random } = source;
  const attack = random.pick(attacks(target, source));
  const kind = random.below(7);
  if (kind === 0) return attack;
  if (kind === 1 || kind === 6) return `${attack} | ${random.pick(PIPES(target, source))}`;
  const whole = randomFilter(source, 1) + randomPipes(source).text;
  if (kind === 2) return `${attack} ${random.pick(['or', 'and'])} ${whole}`;
  if (kind === 3) return `${randomFilter(source, 1)} | ${random.pick(PIPES(target, source))} | ${random.pick(PIPES(target, source))}`;
  return mutated(source, kind === 4 ? `${attack} | ${random.pick(PIPES(target, source))}` : whole, attack);
}

/** One to four changes of tokens: one is left out, doubled, exchanged, or gives its place to a part of the attack or to a piece of SQL. */
function mutated({ random }: Source, text: string, attack: string): string {
  const tokens = tokenize(text).map(({ raw, spaced }) => (spaced ? ' ' : '') + raw);
  const others = tokenize(attack).map(({ raw }) => raw);
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const at = random.below(tokens.length);
    const kind = random.below(6);
    if (kind === 0) tokens.splice(at, 1);
    else if (kind === 1) tokens.splice(at, 0, tokens[at] ?? '');
    else if (kind === 2) tokens.splice(at, 1, random.pick(others));
    else if (kind === 3) tokens.splice(at, 0, ` ${random.pick(others)}`);
    else if (kind === 4) tokens.splice(at, 1, random.pick([quoted, String])(random.pick(SQL)));
    else tokens.splice(at, 1, ` ${attack}`);
  }
  return tokens.join('');
}

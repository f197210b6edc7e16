import { LARGE, PARTS, SMALL, WIDE, type AttackRequest, type RequestAttack, type Target } from './attack.ts';

type Window = { readonly start: string; readonly end: string };
type Made = RequestAttack['request'];

const attack = (name: string, atOnce: number, request: Made): RequestAttack => ({ name, kind: 'query', atOnce, request });
const times = (count: number, one: (index: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_none, index) => one(index)).join(between);
const own = ({ tenantId }: Target, path: string): string => `/api/v1/tenants/${String(tenantId)}${path}`;
const json = (target: Target, path: string, body: object | string): AttackRequest => ({
  host: 'app',
  path: own(target, path),
  headers: { 'Content-Type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const parameters = (given: Readonly<Record<string, string>>): string => new URLSearchParams(given).toString();

/** A query by `/search`. */
const search = (name: string, atOnce: number, query: string, window: Window = SMALL, limit = 10_000): RequestAttack =>
  attack(name, atOnce, (target) => json(target, '/search', { query, ...window, limit }));
/** A GET of a query path. */
const get = (name: string, atOnce: number, path: string, given: Readonly<Record<string, string>>, window: Window = SMALL): RequestAttack =>
  attack(name, atOnce, (target) => ({ host: 'app', path: own(target, `${path}?${parameters({ ...window, ...given })}`) }));
/** A path of VictoriaLogs' API, with its arguments in the form. */
const select = (
  name: string,
  atOnce: number,
  path: string,
  given: Readonly<Record<string, string>>,
  window: Window = SMALL,
): RequestAttack =>
  attack(name, atOnce, () => ({
    host: 'app',
    path: `/select/logsql/${path}`,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: parameters({ ...window, ...given }),
  }));

const TEN = 'replace ("0", "0000000000") at _msg';
const DEEP_REGEXP = 'a{1000}'.repeat(125);
const SLOW_REGEXP = '(?:[a-z0-9 ]{1,30}){30}ZZ';
const nested = (depth: number): string => (depth === 0 ? '*' : `u:in(${nested(depth - 1)} | fields u)`);
const unions = (depth: number): string => (depth === 0 ? '*' : `* | union (${unions(depth - 1)})`);
const CENTURIES = { start: '1900-01-01T00:00:00Z', end: '2261-01-01T00:00:00Z' };
const PART = (name: string, text: string): string => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;

/** What a tenant does with the query paths. */
export const QUERY_ATTACKS: readonly RequestAttack[] = [
  // pipes that make much of little
  search('replaces', 4, `* | format "0000000000" as _msg | ${times(7, () => TEN, ' | ')}`),
  search('pack-json', 2, `* | ${times(24, (i) => `pack_json as a${String(i)}`, ' | ')}`),
  search('pack-logfmt', 2, `* | ${times(24, (i) => `pack_logfmt as a${String(i)}`, ' | ')}`),
  search('format-doubles', 4, `* | format "<_msg>" as m | ${times(40, () => 'format "<m><m>" as m', ' | ')}`),
  search('format-escapes', 4, `* | ${times(20, () => 'format "<q:_msg><hexencode:_msg><base64encode:_msg>" as _msg', ' | ')}`),
  search('copies', 4, `* | copy ${times(650, (i) => `_msg as a${String(i)}`, ', ')}`),
  search('replace-regexp', 4, `* | format "${'a'.repeat(9000)}" as m | replace_regexp ("a.*b|a", "x") at m`),
  search('replace-regexp-large', 4, '* | replace_regexp ("a.*b|a", "x") at _msg | fields n', LARGE),
  search('extract-regexp', 4, `* | extract_regexp "${times(90, (i) => `(?P<g${String(i)}>.*?)`, '')}$" from _msg`),
  search('extract', 4, `* | extract "${times(90, (i) => `<g${String(i)}>`, 'e')}" from _msg`),
  search('unroll', 4, '* | unroll by (j)', PARTS),
  search('unpack-json', 4, '* | unpack_json from o', PARTS),
  search('unpack-words', 4, '* | unpack_words from w as w | unroll by (w)', PARTS),
  search('unpack-logfmt', 4, '* | unpack_logfmt from w', PARTS),
  search('math', 4, `* | math ${times(1200, () => 'n*n', '+')} as r`),
  search('math-chain', 4, `* | ${times(400, () => 'math n + 1 as n', ' | ')}`),
  search('collapse-nums-large', 4, `* | ${times(20, () => 'collapse_nums prettify', ' | ')}`, LARGE),

  // pipes that keep everything
  search('join', 2, '* | limit 20000 | join by (nosuch) (* | limit 20000)'),
  search('join-all', 2, '* | join by (app) (*)'),
  search('stream-context', 2, '* | stream_context before 50 after 50'),
  search('unions', 2, '* | union (*) | union (*) | union (*) | union (*) | sort by (u desc)'),
  search('unions-nested', 2, `${unions(90)} | sort by (u desc)`),
  search('sort', 4, '* | sort by (_msg)'),
  search('sort-large', 4, '* | sort by (_msg)', LARGE),
  search('sort-partition', 4, '* | sort by (n) partition by (u) limit 1'),
  search('first-partition', 4, '* | first 1 by (n) partition by (u)'),
  search('values', 4, '* | stats values(u) v, uniq_values(u) w, json_values() x'),
  search('values-by-unique', 4, '* | stats by (u) values(_msg) v, uniq_values(_msg) w, row_any() x'),
  search('stats-by-nanosecond', 4, '* | stats by (_time:1ns, u) count() n, quantile(0.9, n) q, median(n) m, histogram(n) h'),
  search('stats-ifs', 4, `* | stats ${times(250, (i) => `count() if (u:${String(i)}) n${String(i)}`, ', ')}`),
  search('stats-after-pipe', 4, '* | collapse_nums | unroll by (u) | stats by (u) count() n, count_uniq(_msg) m'),
  search('top', 4, '* | top 1000000 by (u)'),
  search('uniq', 4, '* | uniq by (u)'),
  search('uniq-after-pipe', 4, '* | unroll by (u) | uniq by (u, _msg) with hits'),
  search('field-values', 4, '* | field_values u'),
  search('facets-pipe', 4, '* | facets 1000 max_values_per_field 1000000000 max_value_len 1000000000'),
  search('facets-pipe-wide', 4, '* | facets 1000 max_values_per_field 1000000000 max_value_len 1000000000', WIDE),
  search('field-names-wide', 4, '* | field_names', WIDE),
  search('offset', 4, '* | offset 299999'),

  // filters
  attack('explain-regexps', 10, (target) => json(target, '/search?explain=true', { query: times(8, () => `~"${DEEP_REGEXP}"`), ...SMALL })),
  search('slow-regexps', 90, `_msg:~"${SLOW_REGEXP}"`),
  search('slow-regexps-in-memory', 8, `* | collapse_nums | filter _msg:~"${SLOW_REGEXP}"`),
  search(
    'case-regexps',
    16,
    times(8, () => '~"(?i)(?:k|ſ|İ){1,300}Z"'),
  ),
  search('nested-repetition', 16, `~"${'('.repeat(30)}a${'*)*'.repeat(10)}${'{1,30})'.repeat(20)}"`),
  search('stream-regexps', 8, `{${times(60, (i) => `app=~"(a|b|${String(i)})*c"`, ',')}} or ${times(60, () => '{app!~"(x*)*"}', ' or ')}`),
  search('in-nested', 4, nested(50)),
  search('in-nested-allowed', 4, nested(32)),
  search(
    'in-wide',
    4,
    times(90, () => 'u:in(* | fields u)', ' or '),
  ),
  search('in-values', 8, `u:in(${times(1600, (i) => String(i), ',')})`),
  search(
    'ors',
    16,
    times(1600, (i) => `a${String(i % 9)}`, ' or '),
  ),
  search('nots', 16, `${'!'.repeat(9000)}a`),
  search('parentheses', 16, `${'('.repeat(4900)}a${')'.repeat(4900)}`),
  search('seq', 8, `seq(${times(1500, () => '"e"', ',')})`),
  search('ignore-case', 8, `i(${'ſ'.repeat(4000)}) or i(${'İ'.repeat(4000)})`),
  search('long-query', 16, 'x'.repeat(1_000_000)),
  attack('long-select-query', 16, () => ({ host: 'app', path: '/select/logsql/query', body: `query=${'x '.repeat(500_000)}` })),
  search('long-field-names', 16, `"${'f'.repeat(9000)}":x | stats by ("${'g'.repeat(400)}") count() n`),
  search('centuries', 4, 'options(ignore_global_time_filter=true) _msg:~"q.*x"', CENTURIES),

  // answers
  attack('huge-pages', 8, (target) => json(target, '/search', { query: '*', ...LARGE, limit: 60 })),
  attack('huge-pages-compressed', 8, (target) => ({
    ...json(target, '/search', { query: '*', ...LARGE, limit: 60 }),
    headers: { 'Accept-Encoding': 'gzip' },
  })),
  select('large-lines', 8, 'query', { query: '*', limit: '10000' }, LARGE),
  select('exports', 20, 'query', { query: '*' }),
  select('exports-large', 8, 'query', { query: '*' }, LARGE),
  search('pages', 16, '*'),
  get('hits-by-unique', 4, '/hits', { query: '*', fields_by: 'u' }),
  get('hits-by-message', 4, '/hits', { query: '*', fields_by: '_msg' }),
  get('hits-of-centuries', 4, '/hits', { query: '*', step: '1m' }, CENTURIES),
  get('facets', 4, '/facets', { query: '*', limit: '1000' }),
  get('facets-wide', 4, '/facets', { query: '*', limit: '1000' }, WIDE),
  get('facets-large', 4, '/facets', { query: '*', limit: '1000' }, LARGE),
  get('streams', 8, '/streams', { query: '*' }, CENTURIES),
  get('patterns', 8, '/patterns', { since: CENTURIES.start, search: 'x'.repeat(1000), limit: '2000' }),
  get('patterns-diff', 8, '/patterns/diff', { a: `${CENTURIES.start}..-1h`, b: '-1h..now', limit: '2000' }),
  get('measures', 8, '/measures', { label: `a:${'x'.repeat(4000)}` }, CENTURIES),
  attack('watch-previews', 4, (target) =>
    json(target, '/metric-rules/preview', { watch: 'a', expr: 'quantile by (a) (0.9, {__name__=~".+"})', sensitivity: 'high' }),
  ),
  attack('rule-previews', 4, (target) => json(target, '/rules/preview', { query: '* | stats by (u) quantile(0.99, n)', if: 'anomaly' })),
  attack('detector-previews', 4, (target) => json(target, '/detectors/preview', { detector: 'log_rate', query: '*' })),
  select('select-hits-by-ms', 4, 'hits', { query: '*', step: '1ms', field: 'u' }, CENTURIES),
  select('stats-range-by-ms', 4, 'stats_query_range', { query: '* | stats by (u) count() n', step: '1ms' }, CENTURIES),
  select('stats-query', 4, 'stats_query', { query: '* | stats by (u, n) count() c, sum(n) s' }),
  select('select-facets-wide', 4, 'facets', { query: '*', limit: '1000000', max_values_per_field: '1000000000' }, WIDE),
  select('select-field-values', 4, 'field_values', { query: '*', field: 'u', limit: '1000000' }),
  select('select-stream-ids', 4, 'stream_ids', { query: '*' }, CENTURIES),
  select('tails', 40, 'tail', { query: '*', start_offset: '1h', refresh_interval: '200ms' }, SMALL),
  select('tails-of-slow-regexps', 20, 'tail', { query: `_msg:~"${SLOW_REGEXP}"`, start_offset: '1h', refresh_interval: '200ms' }),

  // requests
  select('extra-filters', 8, 'query', { query: '*', limit: '1', extra_filters: times(60_000, () => 'e', ' or ') }),
  select('extra-filters-deep', 8, 'query', { query: '*', limit: '1', extra_filters: `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}` }),
  attack('multipart', 8, () => ({
    host: 'app',
    path: '/select/logsql/query',
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    body: `${times(1000, (i) => PART(`p${String(i)}`, 'x'.repeat(900)), '')}${PART('query', '*')}${PART('limit', '1')}--b--\r\n`,
  })),
  attack('multipart-of-dashes', 8, () => ({
    host: 'app',
    path: '/select/logsql/query',
    headers: { 'Content-Type': `multipart/form-data; boundary=${'-'.repeat(60)}` },
    body: '-'.repeat(1_000_000),
  })),
  attack('form-of-names', 8, () => ({
    host: 'app',
    path: '/select/logsql/query',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: times(120_000, (i) => `${String(i)}=`, '&'),
  })),
  attack('search-deep-json', 8, (target) => json(target, '/search', `{"query":${'['.repeat(500_000)}${']'.repeat(500_000)}}`)),
  attack('search-names', 8, (target) =>
    json(target, '/search', `{"query":"*","__proto__":{"limit":1},${times(60_000, (i) => `"${String(i)}":1`, ',')}}`),
  ),
  attack('search-escapes', 8, (target) => json(target, '/search', `{"query":"${'\\u0000'.repeat(150_000)}"}`)),
  attack('long-url', 32, (target) => ({ host: 'app', path: own(target, `/hits?${'/%2e'.repeat(12_000)}`) })),
  attack('url-of-parameters', 32, (target) => ({ host: 'app', path: own(target, `/hits?query=*&${'fields_by=a&'.repeat(4000)}`) })),
  attack('url-of-slashes', 32, () => ({ host: 'app', path: '/'.repeat(50_000) })),
  attack('small-searches', 200, (target, round) => json(target, '/search', { query: `u:=${String(round)}`, ...SMALL, limit: 1 })),
  attack('rules-written-out', 8, (target, round) =>
    json(target, '/rules', {
      name: `r${String(round)}`,
      query: `"${'f'.repeat(400)}":(${times(95, (i) => i.toString(36), ' or ')}) or * | stats count()`,
      if: 'value > 0',
    }),
  ),
  attack('sensitivities', 4, (target, round) => ({
    ...json(target, '/detectors', {
      rules: Array.from({ length: 50 }, (_none, i) => ({ stream: `{app="${String(round)}_${String(i)}"}`, sensitivity: 'low' })),
    }),
    method: 'PUT',
  })),
  attack('wrong-keys', 64, (_target, round) => ({
    host: 'app',
    path: '/api/v1/tenants/1/hits',
    headers: { Authorization: `Bearer ${String(round).padEnd(40_000, 'k')}` },
  })),
];

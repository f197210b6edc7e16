/**
 * Words that mean something to the parser. A query may not begin with the name of a pipe or a stats function: it would read like a
 * pipe without a query. Printed strings that are such words are put in quotes. Held here in full, whether built or not, so that a
 * query means the same before and after; a contract test compares it with the registries.
 */
export const PIPE_NAMES: readonly string[] = [
  'block_stats',
  'blocks_count',
  'collapse_nums',
  'copy',
  'cp',
  'decolorize',
  'delete',
  'del',
  'rm',
  'drop',
  'drop_empty_fields',
  'extract',
  'extract_regexp',
  'facets',
  'field_names',
  'field_values',
  'fields',
  'keep',
  'filter',
  'where',
  'first',
  'format',
  'join',
  'json_array_len',
  'hash',
  'last',
  'len',
  'limit',
  'head',
  'math',
  'eval',
  'offset',
  'skip',
  'pack_json',
  'pack_logfmt',
  'patterns',
  'rename',
  'mv',
  'replace',
  'replace_regexp',
  'sample',
  'sort',
  'order',
  'stats',
  'by',
  'stream_context',
  'top',
  'union',
  'uniq',
  'unpack_json',
  'unpack_logfmt',
  'unpack_syslog',
  'unpack_words',
  'unroll',
];

/** Pipes of VictoriaLogs about its own storage: reserved, and always refused. */
export const STORAGE_PIPES: readonly string[] = ['block_stats', 'blocks_count'];

export const STATS_NAMES: readonly string[] = [
  'avg',
  'count',
  'count_empty',
  'count_uniq',
  'count_uniq_hash',
  'histogram',
  'json_values',
  'max',
  'median',
  'min',
  'quantile',
  'rate',
  'rate_sum',
  'row_any',
  'row_max',
  'row_min',
  'sum',
  'sum_len',
  'uniq_values',
  'values',
];

export const FILTER_NAMES: readonly string[] = [
  'contains_all',
  'contains_any',
  'eq_field',
  'exact',
  'i',
  'in',
  'ipv4_range',
  'le_field',
  'len_range',
  'lt_field',
  'range',
  're',
  'seq',
  'string_range',
  'value_type',
];

const FIRST_WORDS = new Set([...PIPE_NAMES, ...STATS_NAMES]);
const RESERVED = new Set([
  ...FIRST_WORDS,
  ...FILTER_NAMES,
  'and',
  'or',
  'not',
  'now',
  'offset',
  'options',
  'if',
  'as',
  'desc',
  'asc',
  'limit',
  'rank',
  'partition',
  'with',
  'hits',
  'day_range',
  'week_range',
]);

/** True for a bare word with which no query may begin. */
export const isPipeWord = (word: string): boolean => FIRST_WORDS.has(word.toLowerCase());

const PLAIN = /^[\p{L}\p{Nd}_.]+$/u;

/** The string as a token of the language: unchanged when it reads back as itself, otherwise in double quotes. */
export function quote(text: string): string {
  return PLAIN.test(text) && !RESERVED.has(text.toLowerCase()) ? text : JSON.stringify(text);
}

/** A field name or a prefix of names (`k8s.*`) as it is written in lists of fields. */
export function quotePattern(pattern: string): string {
  if (!pattern.endsWith('*')) return quote(pattern);
  const prefix = pattern.slice(0, -1);
  return prefix === '' || quote(prefix) === prefix ? pattern : JSON.stringify(pattern);
}

/** The field in front of a filter: nothing for `_msg`, else its name and a colon. */
export const fieldPrefix = (field: string): string => (field === '_msg' ? '' : `${quote(field)}:`);

/** `_fingerprint:<hex>`, `_fingerprint:in(…)`: entries whose message is of one of these patterns (docs/patterns.md). */
import { OVERFLOW_FINGERPRINT } from '../../pipeline/clusterer/clusterer.ts';
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { numberSet, ofTenant, sql, text, type Sql } from '../../pipeline/core/sql.ts';
import { patternOf } from '../values/message-pattern.ts';
import type { Filter, FilterSpec, Parser, SqlContext } from '../base/types.ts';

const FINGERPRINT = /^[0-9a-fA-F]{64}$/;
const HEX_DIGITS = 16;
const MOST = 1000;

/**
 * In ClickHouse: of the clusters of these fingerprints, by the column `pattern`. In memory, where nothing is known of clusters: of these templates
 * themselves.
 */
class FingerprintFilter implements Filter {
  readonly fields: readonly string[] = ['_msg'];
  readonly #fingerprints: readonly string[];
  readonly #patterns: ReadonlySet<string>;

  constructor(fingerprints: readonly string[]) {
    this.#fingerprints = fingerprints.map((one) => one.toLowerCase());
    this.#patterns = new Set(this.#fingerprints.map((one) => one.slice(0, HEX_DIGITS)));
  }

  toString(): string {
    const [first, ...others] = this.#fingerprints;
    return first !== undefined && others.length === 0 ? `_fingerprint:${first}` : `_fingerprint:in(${this.#fingerprints.join(', ')})`;
  }

  matches(entry: LogEntry): boolean {
    return this.#patterns.has(patternOf(textOf(entry.get('_msg'))));
  }

  sql(context: SqlContext): Sql | null {
    // a pipe has made another message, or nothing is known of patterns
    if (context.computed?.('_msg') !== undefined || !context.table.hasPatterns) return null;
    return sql`pattern IN ${patternsOf(context.tenantId, this.#fingerprints)}`;
  }
}

/** A SELECT of the numbers of these fingerprints, and of all that are of their clusters. */
function patternsOf(tenantId: number, fingerprints: readonly string[]): Sql {
  const numbers = fingerprints.map((one) => BigInt(`0x${one.slice(0, HEX_DIGITS)}`).toString());
  const own = ofTenant(tenantId);
  const root = sql`argMax(root, (version, kafka_off, kafka_idx))`;
  const given = numberSet(numbers);
  const roots = sql`SELECT ${root} FROM patterns WHERE ${own} AND pattern IN ${given} GROUP BY pattern HAVING ${root} != ${text(OVERFLOW_FINGERPRINT)}`;
  const members = sql`SELECT pattern FROM patterns WHERE ${own} AND pattern IN (SELECT pattern FROM patterns WHERE ${own} AND root IN (${roots})) GROUP BY pattern HAVING ${root} IN (${roots})`;
  return sql`(${given} UNION ALL ${members})`;
}

function parseFingerprints(parser: Parser): Filter {
  const { lexer } = parser;
  const at = lexer.save();
  const fail = (what: string): Filter => {
    lexer.restore(at);
    return lexer.fail(what);
  };
  const found: string[] = [];
  if (lexer.is('in')) {
    lexer.next();
    lexer.expect('(');
    while (!lexer.accept(')')) {
      if (lexer.isEnd || lexer.is(',', '(')) lexer.fail('expected a fingerprint or ")"');
      found.push(lexer.argument());
      if (!lexer.is(')')) lexer.expect(',');
    }
  } else found.push(lexer.compound('a fingerprint'));
  if (found.length === 0 || found.length > MOST) return fail(`expected 1 to ${String(MOST)} fingerprints`);
  return found.every((one) => FINGERPRINT.test(one)) ? new FingerprintFilter(found) : fail('expected a fingerprint of 64 hex digits');
}

const TOOK = '881c67c818df6c6ee43d427ec86016b6fecc9c8d17bdb501c248bb5429381e6d';
const INPUT = [{ _msg: 'took 5 ms' }, { _msg: 'started' }];

export const fingerprintField: FilterSpec = {
  names: ['_fingerprint'],
  kind: 'field',
  examples: [{ query: `_fingerprint:${TOOK}`, input: INPUT, output: INPUT.slice(0, 1) }],
  parse: parseFingerprints,
};

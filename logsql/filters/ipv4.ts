import { float64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { formatIpv4, parseIpv4 } from '../values/numbers.ts';
import { ipv4Sql } from '../sql/number.ts';
import { onShortText } from '../sql/text.ts';
import type { FilterSpec, Parser, SqlContext } from '../base/types.ts';
import { listArguments } from './arguments.ts';
import { TextFilter } from './text-filter.ts';

/** `ip:ipv4_range(a, b)`: the whole value is an IPv4 address from a to b, both included; also a network (`10.0.0.0/8`) or one address. */
class Ipv4Filter extends TextFilter {
  readonly #min: number;
  readonly #max: number;
  constructor(field: string, min: number, max: number) {
    super(field);
    this.#min = min;
    this.#max = max;
  }
  print(): string {
    return `ipv4_range(${formatIpv4(this.#min)}, ${formatIpv4(this.#max)})`;
  }
  accepts(value: string): boolean {
    const address = parseIpv4(value);
    return address !== null && address >= this.#min && address <= this.#max;
  }
  protected textSql(context: SqlContext): Sql | null {
    return onShortText(
      this.field,
      context,
      (value) => sql`ifNull(${ipv4Sql(value)} BETWEEN ${float64(this.#min)} AND ${float64(this.#max)}, 0)`,
    );
  }
}

/** The first and last address of `10.0.0.0/8` or of a single one. */
function networkOf(text: string): readonly [number, number] | null {
  const [host = '', bits = '32', ...more] = text.split('/');
  const address = parseIpv4(host);
  if (address === null || more.length > 0 || !/^[0-9]{1,2}$/.test(bits) || Number(bits) > 32) return null;
  const size = 2 ** (32 - Number(bits));
  const first = address - (address % size);
  return [first, first + size - 1];
}

function bounds(parser: Parser): readonly [number, number] {
  const { lexer } = parser;
  const at = lexer.save();
  const list = listArguments(parser);
  const [first = '', second = ''] = list;
  const ends = list.length === 1 ? networkOf(first) : list.length === 2 ? ([parseIpv4(first), parseIpv4(second)] as const) : null;
  if (ends !== null && ends[0] !== null && ends[1] !== null) return [ends[0], ends[1]];
  lexer.restore(at);
  return lexer.fail('expected ipv4_range(first, last) or ipv4_range("address/bits")');
}

export const ipv4Range: FilterSpec = {
  names: ['ipv4_range'],
  kind: 'function',
  examples: [
    {
      query: 'ip:ipv4_range("10.0.0.0/8")',
      input: [
        { _msg: 'a', ip: '10.1.2.3' },
        { _msg: 'b', ip: '11.0.0.0' },
      ],
      output: [{ _msg: 'a', ip: '10.1.2.3' }],
    },
  ],
  parse: (parser, field) => new Ipv4Filter(field, ...bounds(parser)),
};

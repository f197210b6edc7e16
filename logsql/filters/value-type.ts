import { parseDecimal, parseIpv4, parseTimestamp, parseUint } from '../values/numbers.ts';
import { quote } from '../base/reserved.ts';
import type { FilterSpec } from '../base/types.ts';
import { exactArguments } from './arguments.ts';
import { TextFilter } from './text-filter.ts';

const ISO8601 = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The narrowest type that holds the value: what VictoriaLogs would store a column of such values as. */
function typeOf(value: string): string {
  const size = parseUint(value);
  if (size !== null) return size < 256n ? 'uint8' : size < 65_536n ? 'uint16' : size < 1n << 32n ? 'uint32' : 'uint64';
  if (/^-[0-9]+$/.test(value)) return 'int64';
  if (parseDecimal(value) !== null) return 'float64';
  if (parseIpv4(value) !== null) return 'ipv4';
  return ISO8601.test(value) && parseTimestamp(value) !== null ? 'iso8601' : 'string';
}

/** `f:value_type(uint64)`. There are no blocks of columns here, so each value has the type of its own; `dict` and `const` match nothing. */
class ValueTypeFilter extends TextFilter {
  readonly #type: string;
  constructor(field: string, type: string) {
    super(field);
    this.#type = type;
  }
  print(): string {
    return `value_type(${quote(this.#type)})`;
  }
  accepts(value: string): boolean {
    return value !== '' && typeOf(value) === this.#type;
  }
  protected textSql(): null {
    return null;
  }
}

export const valueType: FilterSpec = {
  names: ['value_type'],
  kind: 'function',
  examples: [
    {
      query: 'n:value_type(uint8)',
      input: [
        { _msg: 'a', n: 7 },
        { _msg: 'b', n: 'x' },
      ],
      output: [{ _msg: 'a', n: 7 }],
    },
  ],
  parse: (parser, field) => new ValueTypeFilter(field, exactArguments(parser, 1)[0] ?? ''),
};

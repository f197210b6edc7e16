import { expect } from 'chai';
import fc from 'fast-check';
import { renderResult } from '../../api/query/render.ts';
import { FieldSet } from '../../logsql/base/fields.ts';
import { entryColumns } from '../../logsql/sql/columns.ts';
import { renderRow } from '../../logsql/sql/entry-text.ts';
import { cpuMs } from '../cpu-time.ts';
import { extent } from '../extent.ts';

type Row = readonly [string, string, string, string, string, string, string, Readonly<Record<string, string>>, readonly string[]];

const columns = entryColumns(FieldSet.all, 1);
const streams = new Map([['7', '{app="a \\"b\\""}']]);

/** The row as text and as values must give the same entry. */
function expectSame(row: Row): void {
  const texts = row.map((value) => JSON.stringify(value));
  const expected = renderResult(columns.decode(row, streams));
  expect(renderRow(texts, streams, columns)).to.equal(expected);
  expect(() => JSON.parse(expected) as unknown).not.to.throw();
}

const row = (
  fields: Readonly<Record<string, string>>,
  keys: readonly string[] = [],
  own: Partial<Record<3 | 4 | 5 | 6, string>> = {},
): Row => [
  '2026-01-02 03:04:05.678000000',
  '7',
  'a "message"\n\t\\',
  own[3] ?? 'info',
  own[4] ?? '',
  own[5] ?? '',
  own[6] ?? '',
  fields,
  keys,
];

const at = (time: string, [, ...rest]: Row): Row => [time, ...rest];

describe('an entry as text', () => {
  const cases: readonly [string, Row][] = [
    ['without fields', row({})],
    ['with text alone', row({ a: 'x', b: '1' })],
    ['with numbers and booleans', row({ a: '1', b: '18446744073709551615', c: 'true', d: 'x' }, ['a', 'b', 'c'])],
    ['whose text looks like a member', row({ a: '","b":"1', b: '2' }, ['b'])],
    ['whose name ends as another one', row({ 'x"b': '1', b: '2' }, ['b'])],
    ['whose name ends as another one behind a backslash', row({ 'x\\": "': '1', b: '2', '\\b': '3' }, ['b'])],
    ['whose name of a number is escaped', row({ 'a"b': '1', c: '2' }, ['a"b', 'c'])],
    [
      'whose numbers are in columns of their own',
      row({ a: '1', trace_id: '12', span_id: '3.5' }, ['a', 'trace_id', 'span_id'], { 5: '12', 6: '3.5' }),
    ],
    ['whose name looks like the end of a text and another name', row({ k: ',', ':': 'v', ',': '5' }, [','])],
    ['whose name begins like the end of a text', row({ k: ',', 'a": "': 'v', ',a': '5', 'b,': '6' }, [',a', 'b,'])],
    ['whose text and name look like a name behind a brace', row({ '{': ':', ':': '1' }, [':'])],
    ['whose text and name look like a name behind a comma', row({ 'a,': ':', ':': '1' }, [':'])],
    ['with a name of which another one is a part', row({ aa: '1', a: '2' }, ['a'])],
    ['of a stream that nobody knows', [...row({}).slice(0, 1), '8', ...row({}).slice(2)] as unknown as Row],
    ['of a time that ends in zeros', at('2026-01-02 03:04:05.670000000', row({}))],
    ['of such a time, whose name of a number is escaped', at('2026-01-02 03:04:05.670000000', row({ 'a"b': '1' }, ['a"b']))],
    ['of a whole second, whose name of a number is escaped', at('2026-01-02 03:04:05.000000000', row({ 'a"b': '1' }, ['a"b']))],
    ['without a message', [...row({}).slice(0, 2), '', ...row({}).slice(3)] as unknown as Row],
  ];
  for (const [name, one] of cases) it(name, () => expectSame(one));

  it('of many numbers beside a long text, soon', () => {
    const names = Array.from({ length: 999 }, (_, index) => `field${String(index)}`);
    const fields = { long: 'x'.repeat(1_000_000), ...Object.fromEntries(names.map((name, index) => [name, String(index)])) };
    const began = cpuMs();
    expectSame(row(fields, names));
    expect(cpuMs() - began).to.be.below(1000);
  });

  it('whatever its names and values are', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '"', '\\', ',', ':', '{', '}', '/', 'é', '\u2028', '\n'),
      minLength: 1,
      maxLength: 6,
    });
    const number = fc.constantFrom('1', '-2.5e3', 'true', '0');
    const entries = fc.uniqueArray(fc.tuple(text, text, number, fc.boolean()), { selector: ([name]) => name, maxLength: 6 });
    fc.assert(
      fc.property(entries, (fields) => {
        const values = Object.fromEntries(fields.map(([name, value, literal, isLiteral]) => [name, isLiteral ? literal : value]));
        const keys = fields.filter(([, , , isLiteral]) => isLiteral).map(([name]) => name);
        expectSame(row(values, keys));
      }),
      { numRuns: extent(1500, 5000) },
    );
  });
});

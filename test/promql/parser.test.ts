import { expect } from 'chai';
import { parseExpression, parseSelector } from '../../promql/parser/parse.ts';
import { formatExpression, printExpression } from '../../promql/parser/printer.ts';
import { expressionJson } from '../../promql/parser/ast-json.ts';

/** What Prometheus says of expressions that it refuses. */
const REFUSED: readonly (readonly [expression: string, message: string])[] = [
  ['', '1:1: parse error: no expression found in input'],
  ['# only a comment', '1:17: parse error: no expression found in input'],
  ['sum(', '1:5: parse error: unclosed left parenthesis'],
  ['up[5m', '1:6: parse error: unclosed left bracket'],
  ['up{a="b"', '1:9: parse error: unclosed left brace'],
  ['up)', "1:3: parse error: unexpected right parenthesis ')'"],
  ['up{a="b}', '1:6: parse error: unterminated quoted string'],
  ['up ? 1', "1:4: parse error: unexpected character: '?'"],
  ['up up', '1:4: parse error: unexpected identifier "up"'],
  ['1 +', '1:4: parse error: unexpected end of input'],
  ['up[5x]', '1:4: parse error: bad number or duration syntax: "5x"'],
  ['up[0s]', '1:4: parse error: duration must be greater than 0'],
  ['{}', '1:1: parse error: vector selector must contain at least one non-empty matcher'],
  ['{a=~".*"}', '1:1: parse error: vector selector must contain at least one non-empty matcher'],
  ['up{__name__="down"}', '1:1: parse error: metric name must not be set twice: "up" or "down"'],
  ['up{a=~"("}', '1:4: parse error: error parsing regexp: missing closing ): `(`'],
  ['rate(up)', '1:6: parse error: expected type range vector in call to function "rate", got instant vector'],
  ['rate(up[5m], 1)', '1:1: parse error: expected 1 argument(s) in call to "rate", got 2'],
  ['round()', '1:1: parse error: expected at least 1 argument(s) in call to "round", got 0'],
  ['round(up, 1, 2)', '1:1: parse error: expected at most 2 argument(s) in call to "round", got 3'],
  ['nosuch(up)', '1:1: parse error: unknown function with name "nosuch"'],
  ['RATE(up[5m])', '1:1: parse error: unknown function with name "RATE"'],
  ['sum(up[5m])', '1:5: parse error: expected type instant vector in aggregation expression, got range vector'],
  ['topk("a", up)', '1:6: parse error: expected type scalar in aggregation parameter, got string'],
  ['topk(up)', '1:1: parse error: wrong number of arguments for aggregate expression provided, expected 2, got 1'],
  ['sum()', '1:1: parse error: no arguments for aggregate expression provided'],
  ['-"a"', '1:1: parse error: unary expression only allowed on expressions of type scalar or instant vector, got "string"'],
  ['up + "a"', '1:6: parse error: binary expression must contain only scalar and instant vector types'],
  ['1 > 2', '1:3: parse error: comparisons between scalars must use BOOL modifier'],
  ['up + bool up', '1:4: parse error: bool modifier can only be used on comparison operators'],
  ['1 and up', '1:1: parse error: set operator "and" not allowed in binary scalar expression'],
  ['up and on (a) group_left up', '1:1: parse error: no grouping allowed for "and" operation'],
  ['up or fill(0) up', '1:1: parse error: filling in missing series not allowed for set operators'],
  ['up + fill(0) 1', '1:1: parse error: filling in missing series only allowed between instant vectors'],
  ['up * on (a) 1', '1:1: parse error: vector matching only allowed between instant vectors'],
  ['a * on (b) group_left (b) c', '1:3: parse error: label "b" must not occur in ON and GROUP clause at once'],
  ['up offset 5m offset 5m', '1:1: parse error: offset may not be set multiple times'],
  ['up @ 1 @ 2', '1:1: parse error: @ <timestamp> may not be set multiple times'],
  [
    '(up) offset 5m',
    '1:1: parse error: offset modifier must be preceded by an instant vector selector or range vector selector or a subquery',
  ],
  ['up offset 5m [5m]', '1:1: parse error: no offset modifiers allowed before range'],
  ['sum(up)[5m]', '1:1: parse error: ranges only allowed for vector selectors'],
  ['up[5m][5m:1m]', '1:1: parse error: subquery is only allowed on instant vector, got range vector instead'],
  ['up[5m] anchored', '1:1: parse error: anchored modifier is experimental and not enabled'],
  ['1 +\n  sum(', '2:7: parse error: unclosed left parenthesis'],
];

/** Expressions and how they are printed; those with one string are printed as they are. */
const PRINTED: readonly (readonly [expression: string, printed?: string])[] = [
  ['up'],
  ['{"a.b", c="d"}', '{__name__="a.b",c="d"}'],
  ['up{b="c", a!~"d"}', 'up{a!~"d",b="c"}'],
  ["up{a='it\\'s'}", 'up{a="it\'s"}'],
  ['up{a=`\\d`}', 'up{a="\\\\d"}'],
  ['up[5m] offset -1h @ 5', 'up[5m] @ 5.000 offset -1h'],
  ['up @ start()'],
  ['rate(up[1h30m])'],
  ['up[300]', 'up[5m]'],
  ['up[5m*2]', 'up[5m * 2]'],
  ['up[(step()+1m)*2]', 'up[(step() + 1m) * 2]'],
  ['max_over_time(rate(up[5m])[1h:1m] @ end() offset 1m)'],
  ['up[1h:]'],
  ['SUM(up) BY (job, "a b")', 'sum by (job, "a b") (up)'],
  ['sum without () (up)'],
  ['quantile(0.9, up)'],
  ['count_values("v", up)'],
  ['a + on(b) group_left(c) d', 'a + on (b) group_left (c) d'],
  ['a / ignoring (b) fill(0) c', 'a / ignoring (b) fill (0) c'],
  ['a / fill_left(1) fill_right(2) c', 'a / fill_left (1) fill_right (2) c'],
  ['a > bool 1'],
  ['a and b or c unless d'],
  ['-2 ^ 2', '-2 ^ 2'],
  ['(-2) ^ 2'],
  ['1e3 + 0x10 + 1_000 + .5 + 2. + Inf + 5m', '1000 + 16 + 1000 + 0.5 + 2 + +Inf + 5m'],
  ['"a\\nb"'],
  ['max_of(1, min_of(2, 3))'],
  ['h </ 2 >/ 1', 'h </ 2 >/ 1'],
  ['a @ 1 + b offset 5m', 'a @ 1.000 + b offset 5m'],
  ['-a offset 5m'],
  ['sum # a comment\n(up)', 'sum(up)'],
];

describe('expressions of PromQL', () => {
  for (const [expression, message] of REFUSED)
    it(`refuses ${JSON.stringify(expression)}`, () => {
      expect(() => parseExpression(expression))
        .to.throw(Error, message)
        .with.property('message', message);
    });

  for (const [expression, printed = expression] of PRINTED)
    it(`prints ${JSON.stringify(expression)}`, () => {
      expect(printExpression(parseExpression(expression))).to.equal(printed);
      expect(printExpression(parseExpression(printed))).to.equal(printed);
    });

  it('are broken into lines where they are long', () => {
    const long = `sum by (job) (rate(http_requests_total{code=~"5..",path="/a/long/path"}[5m])) / sum by (job) (rate(http_requests_total[5m])) > 0.05`;
    expect(formatExpression(parseExpression(long))).to.equal(
      [
        '    sum by (job) (rate(http_requests_total{code=~"5..",path="/a/long/path"}[5m]))',
        '  /',
        '    sum by (job) (rate(http_requests_total[5m]))',
        '>',
        '  0.05',
      ].join('\n'),
    );
    expect(formatExpression(parseExpression('sum  ( up )'))).to.equal('sum(up)');
  });

  it('have the tree that parse_query gives', () => {
    expect(expressionJson(parseExpression('rate(up{a="b"}[5m] offset 1m)'))).to.deep.equal({
      type: 'call',
      func: { name: 'rate', argTypes: ['matrix'], variadic: 0, returnType: 'vector' },
      args: [
        {
          type: 'matrixSelector',
          name: 'up',
          range: 300_000,
          offset: 60_000,
          matchers: [
            { name: 'a', value: 'b', type: '=' },
            { name: '__name__', value: 'up', type: '=' },
          ],
          timestamp: null,
          startOrEnd: null,
          anchored: false,
          smoothed: false,
        },
      ],
    });
    expect(expressionJson(parseExpression('a + on (b) group_right fill_left(1) -c'))).to.deep.include({
      type: 'binaryExpr',
      op: '+',
      bool: false,
      matching: { card: 'one-to-many', labels: ['b'], on: true, include: [], fillValues: { lhs: 1, rhs: null } },
    });
    expect(
      expressionJson(
        parseExpression('topk by (a) (2, up[5m:1m] @ end())'.replace('up[5m:1m] @ end()', 'sum_over_time(up[5m:1m] @ end())')),
      ),
    ).to.deep.include({
      type: 'aggregation',
      op: 'topk',
      grouping: ['a'],
      without: false,
      param: { type: 'numberLiteral', val: '2' },
    });
  });

  it('are selectors where series are asked for', () => {
    expect(parseSelector('up{a="b"}').map(String)).to.deep.equal(['a="b"', '__name__="up"']);
    expect(() => parseSelector('sum(up)')).to.throw(Error, 'expected a series selector');
  });
});

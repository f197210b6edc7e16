import { expect } from 'chai';
import { PIPE_NAMES, STATS_NAMES, STORAGE_PIPES } from '../../logsql/base/reserved.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { completionAt } from '../../web/ui/editor/complete.ts';
import { PIPE_HELP, STATS_HELP } from '../../web/ui/editor/help.ts';
import { problemOf } from '../../web/ui/editor/parse.ts';
import { chipsOf, exactly, hasPipes, onlyFilter, piecesOf, split, termsOf, withFilter, withoutChip } from '../../web/ui/editor/tokens.ts';

const HOSTILE = ['', '*', '"', '`', "'", 'a:"', '|', '||', '((((', '))))', '{', 'a:=', ':', 'é:ü', '\u202e', '<script>', '𝒳:𝒴 | 𝒵', 'a\n# comment\nb', '"\\x"']; // prettier-ignore

describe('the colours of a query', () => {
  it('stand for all of its text, whatever it is', () => {
    for (const text of [...HOSTILE, 'service:api AND NOT level:error | stats by (host) count() n | sort by (n desc)'])
      expect(
        piecesOf(text)
          .map((piece) => piece.text)
          .join(''),
      ).to.equal(text);
  });

  it('tell fields, values, operators and pipes apart', () => {
    const kinds = Object.fromEntries(piecesOf('env:prod AND NOT path:"/x" timeout | stats by (host) count() n').map(({ text, kind }) => [text, kind])); // prettier-ignore
    expect(kinds).to.deep.include({ env: 'field', prod: 'value', AND: 'keyword', NOT: 'keyword', path: 'field', '"/x"': 'value', timeout: 'value', '|': 'pipe', stats: 'pipe', by: 'keyword', host: 'field', count: 'keyword' }); // prettier-ignore
  });

  it('are found quickly in the longest query', () => {
    const text = 'level:error AND service:"api" '.repeat(333);
    // the least of many: what else runs on the core makes each of them longer, and none shorter
    let least = Infinity;
    for (let round = 0; round < 40; round += 1) {
      const began = process.cpuUsage();
      piecesOf(text);
      least = Math.min(least, process.cpuUsage(began).user / 1000);
    }
    expect(least, 'milliseconds a key').to.be.below(8);
  });
});

describe('a filter from a value', () => {
  const rows: readonly (readonly [string, string, string, boolean, string])[] = [
    ['', 'level', 'error', false, 'level:=error'],
    ['*', 'level', 'error', true, 'NOT level:=error'],
    ['timeout', 'service', 'a b', false, 'timeout service:="a b"'],
    ['a or b', 'level', 'error', false, '(a or b) level:=error'],
    ['(a or b)', 'level', 'error', false, '(a or b) level:=error'],
    ['x | stats count() n', 'level', 'error', false, 'x level:=error | stats count() n'],
    ['| stats count() n', 'level', 'error', false, 'level:=error | stats count() n'],
    ['level:=error', 'level', 'error', false, 'level:=error'],
    ['x level:=error', 'level', 'error', true, 'x NOT level:=error'],
    ['x NOT level:=error', 'level', 'error', false, 'x level:=error'],
    ['x', 'a-b', '', false, 'x "a-b":""'],
    ['x', 'f', 'or', false, 'x f:="or"'],
    ['x', 'f', 'a" | delete _msg', false, 'x f:="a\\" | delete _msg"'],
  ];
  for (const [query, field, value, isNot, wanted] of rows)
    it(`${query} with ${isNot ? 'not ' : ''}${field} ${JSON.stringify(value)}`, () => {
      expect(withFilter(query, field, value, isNot)).to.equal(wanted);
      expect(() => parseQuery(wanted, { now: 0n })).not.to.throw();
    });

  it('is one condition whatever the value is: nothing gets out of its quotes', () => {
    for (const value of HOSTILE) {
      const query = exactly('field', value);
      const parsed = parseQuery(query, { now: 0n });
      expect(parsed.pipes).to.have.length(0);
      expect(query.startsWith('field:')).to.equal(true);
    }
  });

  it('alone takes the place of others of its field', () => {
    expect(onlyFilter('level:=warn x NOT level:=info', 'level', 'error')).to.equal('x level:=error');
  });
});

describe('conditions that stand alone', () => {
  it('are those at the top, and can be removed', () => {
    const query = 'env:prod AND NOT path:"/health" (a:b or c:d) x:=y | where n:1';
    const chips = chipsOf(query);
    expect(chips.map(({ field, value, isNot }) => [field, value, isNot])).to.deep.equal([
      ['env', 'prod', false],
      ['path', '/health', true],
      ['x', 'y', false],
    ]);
    expect(chips.map((chip) => withoutChip(query, chip))).to.deep.equal([
      'NOT path:"/health" (a:b or c:d) x:=y | where n:1',
      'env:prod (a:b or c:d) x:=y | where n:1',
      'env:prod AND NOT path:"/health" (a:b or c:d) | where n:1',
    ]);
  });

  it('are none where there is an OR, or a value is more than a word', () => {
    for (const query of ['a:b or c:d', 'a:b*', 'a:~"x"', 'a:(b c)', 'a:>5', 'a:in(b,c)', 'a:"', ':', '(((('])
      expect(chipsOf(query), query).to.deep.equal([]);
  });

  it('leave a query that parses', () => {
    for (const query of ['a:b', 'a:b AND c:d', 'a:b | stats count() n'])
      for (const chip of chipsOf(query)) expect(() => parseQuery(withoutChip(query, chip), { now: 0n }), query).not.to.throw();
  });

  it('and pipes are apart', () => {
    expect(split('a "|" b | limit 1 | sort by (x)')).to.deep.equal(['a "|" b', '| limit 1 | sort by (x)']);
    expect(hasPipes('a:in(b | fields c)')).to.equal(false);
    expect(termsOf('payment "time out" NOT health level:error _msg:boom | fields x')).to.deep.equal(['payment', 'time out', 'boom']);
  });
});

describe('completion', () => {
  const known = new Map([
    [
      'level',
      [
        { value: 'error', hits: 7 },
        { value: 'info', hits: 99 },
      ],
    ],
    ['service', [{ value: 'api gateway', hits: 1 }]],
    ['a-b', []],
    [
      '_stream',
      [
        { value: '{app="shop",service="api"}', hits: 5 },
        { value: '{app="shop",service="a \\"b\\" <b>"}', hits: 2 },
        { value: '{', hits: 1 },
      ],
    ],
  ]);
  const at = (text: string): string[] => completionAt(text, text.length, known).options.map(({ text: own }) => own);

  it('has fields, values of the window, and pipes', () => {
    expect(at('le')).to.deep.equal(['level:']);
    expect(at('')).to.include.members(['level:', 'service:', '"a-b":']);
    expect(at('level:')).to.deep.equal(['error ', 'info ']);
    expect(at('level:=inf')).to.deep.equal(['info ']);
    expect(at('service:')).to.deep.equal(['"api gateway" ']);
    expect(at('* | sta')).to.deep.equal(['stats ']);
    expect(at('* | stats cou')).to.include.members(['count(', 'count_uniq(']);
    expect(at('* | stats by (lev')).to.deep.equal(['level']);
    expect(at('x A')).to.include('AND ');
  });

  it('has labels and values of streams inside braces, and fields behind them', () => {
    expect(at('{')).to.deep.equal(['app=', 'service=']);
    expect(at('level:error {app="shop", se')).to.deep.equal(['service=']);
    expect(at('{service=')).to.deep.equal(['"api"', '"a \\"b\\" <b>"']);
    expect(at('{service!=ap')).to.deep.equal(['"api"']);
    expect(at('{service="api"} le')).to.deep.equal(['level:']);
    expect(completionAt('{', 1, new Map()).options).to.deep.equal([]);
    const whole = `{service=${at('{service=')[1] ?? ''}}`;
    expect(problemOf(whole)).to.equal(null);
  });

  it('replaces what was begun', () => {
    const { from, to } = completionAt('x lev', 5, known);
    expect([from, to]).to.deep.equal([2, 5]);
  });

  it('never throws, at any place of any text', () => {
    for (const text of HOSTILE) for (let place = 0; place <= text.length; place += 1) completionAt(text, place, known);
  });

  it('helps with every pipe and function that there is', () => {
    const canonical = PIPE_NAMES.filter((name) => !STORAGE_PIPES.includes(name));
    const aliases = ['cp', 'del', 'rm', 'drop', 'keep', 'eval', 'skip', 'mv', 'order', 'by'];
    expect(canonical.filter((name) => PIPE_HELP[name] === undefined && !aliases.includes(name))).to.deep.equal([]);
    expect(Object.keys(PIPE_HELP).filter((name) => !PIPE_NAMES.includes(name))).to.deep.equal([]);
    expect(Object.keys(STATS_HELP).filter((name) => !STATS_NAMES.includes(name))).to.deep.equal([]);
  });
});

describe('a problem of a query', () => {
  it('has its place and what was expected', () => {
    expect(problemOf('a AND')).to.deep.include({ start: 5, end: 5 });
    expect(problemOf('* | stats by (x')?.start).to.equal(15);
    expect(problemOf('level:error')).to.equal(null);
    expect(problemOf('  ')).to.equal(null);
  });

  it('is found in anything', () => {
    for (const text of [...HOSTILE, '('.repeat(9999), 'a:'.repeat(4999), '!'.repeat(9999)]) problemOf(text);
  });
});

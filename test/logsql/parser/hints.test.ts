import { expect } from 'chai';
import { filters } from '../../../logsql/filters/index.ts';
import { hintsOf } from '../../../logsql/parser/hints.ts';
import { pipes } from '../../../logsql/pipes/index.ts';
import { stats } from '../../../logsql/stats/index.ts';
import { syntaxError } from '../support.ts';

describe('queries of other languages', () => {
  for (const [query, message] of [
    ['SELECT * FROM logs WHERE level = "error"', 'not SQL: write a filter and then pipes'],
    ['select count(*) from x', 'put "select" in quotes'],
    ['count_over_time({app="x"}[5m])', 'write {app="x"} | stats by (_time:5m) count() as n'],
    ['{app="x"} |= "err"', 'is written "x", in front of the pipes'],
    ['index=main | stats count by host', 'stats by (service) count()'],
    ['* | summarize count() by host', '"summarize" is not a pipe; write stats by (f) count()'],
    ['* | group by (host)) | limit 1', 'end of the query'],
    ['* | nosuchpipe(x)', '"nosuchpipe" is not a pipe'],
    ['* | line_format [x', '"line_format" is not a pipe; write format'],
  ] as const)
    it(`${query} is refused`, () => expect(syntaxError(query)?.message ?? 'accepted').to.include(message));

  for (const [query, ...hints] of [
    ['level=error', 'level:=error (the whole value) or level:error (a word of it)'],
    ['error (app=x or b)', 'app:=x'],
    ['level == "error"', 'level:="error"'],
    ['level != error', 'level:!=error'],
    ['status >= 500', 'status:>=500'],
    ['status>500 path=~"/a"', 'status:>500', 'path:~"/a"'],
    ['level in (a, b)', 'level:in(…)'],
    ['*err*', 'write ~"err"'],
    ['f:*err', 'write ~"err"'],
    ['{app="x"} != "y"', 'write !"y"'],
    ['error | json', '"json" is not a pipe; write unpack_json'],
    ['error | take 5 | nosuch', '"take" is not a pipe; write limit 10', '"nosuch" is not a pipe'],
    ['error | where level == "x"', 'level:="x"'],
    ['error | level = x', 'level:=x'],
  ] as const)
    it(`${query} is run, with a hint`, () => {
      expect(syntaxError(query)).to.equal(null);
      const found = hintsOf(query);
      expect(found).to.have.length(hints.length);
      for (const [index, hint] of hints.entries()) expect(found[index]).to.include(hint);
    });

  const plain = [
    'select',
    '"select" a from b',
    'a:b=c',
    'level:=error',
    'level:>5 app:x',
    '{app="x",b!="c"} error',
    'options(concurrency=2) error',
    'in(a=b) x:contains_any(c=d)',
    'x:in(a=b | fields x)',
    '"level=error"',
    'a AND ="b"',
    '* error',
    'not (a or b)',
    '* | math a + b as c | fields a',
    'error | level:x | "json"',
    '*',
    '',
  ];
  for (const query of plain) it(`${JSON.stringify(query)} gets no hint`, () => expect(hintsOf(query)).to.deep.equal([]));
  it('none of the examples gets a hint', () => {
    for (const { examples } of [...filters.members, ...pipes.members, ...stats.members])
      for (const { query } of examples) expect(hintsOf(query), query).to.deep.equal([]);
  });
  it('shows at most a few short hints', () => {
    const hints = hintsOf(Array.from({ length: 500 }, (_none, index) => `a${String(index)}=${'x'.repeat(1000)}`).join(' '));
    expect(hints).to.have.length(5);
    for (const hint of hints) expect(hint.length).to.be.below(500);
  });
});

import { expect } from 'chai';
import { MAX_CHARACTERS, MAX_NESTING, MAX_OPERATORS } from '../../promql/base/limits.ts';
import { instantQuery, rangeQuery } from '../../promql/evaluation/query.ts';
import { parseExpression } from '../../promql/parser/parse.ts';
import { Labels } from '../../promql/values/labels.ts';
import { MemorySource, rawSeries } from './memory-source.ts';

const YEAR = 365 * 86_400_000;
const source = new MemorySource(
  Array.from({ length: 100 }, (_none, place) =>
    rawSeries(
      Labels.of([
        ['__name__', 'up'],
        ['instance', String(place)],
      ]),
      Array.from({ length: 100 }, (_sample, at) => [at * 1000, at] as const),
    ),
  ),
);

/** The message of an error that something ends with. */
async function failure(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('It did not fail.');
}

describe('hostile expressions', () => {
  it('are refused beyond their characters', async () => {
    expect(parseExpression(`up #${' '.repeat(MAX_CHARACTERS - 4)}`).kind).to.equal('vectorSelector');
    expect(await failure(() => parseExpression(`up #${' '.repeat(MAX_CHARACTERS - 3)}`))).to.equal(
      '1:1: parse error: an expression has at most 10000 characters',
    );
  });

  it('may be nested to a level, and no further, however long they are', async () => {
    const calls = (count: number): string => `${'abs('.repeat(count)}up${')'.repeat(count)}`;
    expect(parseExpression(calls(MAX_NESTING)).kind).to.equal('call');
    expect(await failure(() => parseExpression(calls(MAX_NESTING + 1)))).to.equal(
      '1:804: parse error: an expression has at most 200 levels',
    );
    expect(await failure(() => parseExpression(calls(10_000)))).to.contain('parse error');
    expect(await failure(() => parseExpression('('.repeat(5000)))).to.contain('an expression has at most 200 levels');
  });

  it('may have long chains of operators, to a number of them', async () => {
    const chain = (count: number): string => Array.from({ length: count }, () => 'up').join('+');
    const { value } = await instantQuery(chain(300), 99_000, { source });
    expect(value.type === 'vector' && value.samples[0]?.value).to.equal(300 * 99);
    const most = chain(MAX_OPERATORS + 1);
    expect(parseExpression(`${'('.repeat(MAX_NESTING)}${most}${')'.repeat(MAX_NESTING)}`).kind).to.equal('paren');
    const { value: all } = await instantQuery(most, 99_000, { source });
    expect(all.type === 'vector' && all.samples.length).to.equal(100);
    expect(await failure(() => parseExpression(chain(MAX_OPERATORS + 2)))).to.equal(
      '1:1503: parse error: an expression has at most 500 operators',
    );
    expect(await failure(() => parseExpression(`${'-'.repeat(9000)}up`))).to.contain('at most 500 operators');
  });

  it('have regexps that are bounded together', async () => {
    const long = (text: string): string => `up{instance=~"${text}"}`;
    expect(await failure(() => parseExpression(long('(a{1,100}){1,100}{1,10}')))).to.contain('parse error: error parsing regexp');
    expect(await failure(() => parseExpression(long('(a{1,9}b|cd)*'.repeat(700))))).to.contain('at most 10000 instructions');
    const many = Array.from({ length: 80 }, (_none, at) => `l${String(at)}=~"(abc){50}"`).join(',');
    expect(await failure(() => parseExpression(`up{${many}}`))).to.contain('at most 10000 instructions');
    // a regexp that takes exponential time where alternatives are tried one after another
    const { value } = await instantQuery('up{instance!~"(9*)*x"}', 99_000, { source });
    expect(value.type === 'vector' && value.samples.length).to.equal(100);
  });

  it('ask for no more points than there may be', async () => {
    const points = await failure(() => rangeQuery('{__name__=~".+"}', 0, YEAR, 1, { source }));
    expect(points).to.equal('exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)');
    expect((await rangeQuery('up', 0, 11_000, 1, { source })).value.type).to.equal('matrix');
  });

  it('hold no more samples than they may, whatever asks for them', async () => {
    const tooMany = 'query processing would load too many samples into memory in query execution';
    expect(await failure(() => instantQuery('max_over_time(up[1y:1ms])', YEAR, { source }))).to.equal(tooMany);
    expect(await failure(() => instantQuery('count_over_time(count_over_time(up[1y:1m])[1y:1m])', YEAR, { source }))).to.equal(tooMany);
    expect(await failure(() => rangeQuery('up', 0, 99_000, 100, { source, maxSamples: 50_000 }))).to.equal(tooMany);
    expect(await failure(() => rangeQuery('topk(1, up)', 0, 99_000, 100, { source, maxSamples: 50_000 }))).to.equal(tooMany);
    expect(await failure(() => instantQuery('up[1h]', 99_000, { source, maxSamples: 5000 }))).to.equal(tooMany);
  });

  it('hold one series at a time where they are summed', async () => {
    const { value, peak, read } = await rangeQuery('sum(rate(up[1m]))', 0, 99_000, 100, { source, maxSamples: 5000 });
    expect(value.type === 'matrix' && value.series.length).to.equal(1);
    expect(read).to.equal(10_000);
    expect(peak).to.be.below(5000);
  });

  it('make no label that is longer than it may be, however often they double one', async () => {
    const doubled = (times: number): string => `${'label_join('.repeat(times)}up${',"instance","","instance","instance")'.repeat(times)}`;
    const { value } = await instantQuery(doubled(10), 99_000, { source });
    expect(value.type === 'vector' && value.samples[0]?.labels.get('instance').length).to.be.within(1024, 2048);
    const tooLong = 'a label value of more than 65536 characters';
    expect(await failure(() => instantQuery(doubled(60), 99_000, { source }))).to.equal(tooLong);
    const replaced = `${'label_replace('.repeat(60)}up${',"instance","$1$1$1","instance","(.*)")'.repeat(60)}`;
    expect(await failure(() => instantQuery(replaced, 99_000, { source }))).to.equal(tooLong);
  });

  it('end where the caller wants them to', async () => {
    let calls = 0;
    const checkpoint = (): void => {
      calls += 1;
      if (calls === 50) throw new Error('query timed out in expression evaluation');
    };
    expect(await failure(() => instantQuery('up', 99_000, { source, checkpoint }))).to.equal('query timed out in expression evaluation');
  });
});

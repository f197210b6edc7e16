import { expect } from 'chai';
import { renderSql, type Sql } from '../../pipeline/core/sql.ts';
import { nanoseconds, planOf } from './support.ts';

const DAY = { start: nanoseconds('2026-11-18T00:00:00Z'), end: nanoseconds('2026-11-18T23:59:59.999999999Z') };

describe('the statements of facets', () => {
  /** What is asked after a sample in which so many of its entries have these fields, with two values each. */
  async function askedFor(query: string, sampled: number, names: readonly string[], answer: (text: string) => unknown[][] = () => []) {
    const asked: string[] = [];
    const textOf = (statement: Sql): string => renderSql(statement).text;
    const plan = planOf(query, { tenantId: 1, ...DAY, widest: DAY });
    if (plan.kind !== 'gather') throw new Error(`${query} is one statement`);
    await plan.gather({
      sample: () => Promise.resolve(names.map((name) => [name, '2', '1', String(sampled)])),
      rows: (statement) => {
        asked.push(textOf(statement));
        return Promise.resolve(answer(textOf(statement)));
      },
      chunks: () => {
        throw new Error('facets asks for rows');
      },
      streams: () => Promise.resolve(new Map<string, string>()),
    });
    return asked;
  }

  it('ask the hourly counts for level, service, stream and labels where many entries match', async () => {
    const [byHour = '', entries = '', ...others] = await askedFor('* | facets', 10_000, ['_msg', 'app', 'status', 'a']);
    expect(others).to.deep.equal([]);
    expect(byHour).to.contain('level AS c0, service AS c1, toString(stream_id) AS c2, f_app AS c3,').and.to.contain('sum(entries) AS c');
    expect(entries).to.contain('f_status) AS').and.to.contain('count() AS c').and.not.to.contain('f_app').and.not.to.contain('stream_id');
  });
  it('ask the entries for all where a row of the counts is in doubt', async () => {
    const asked = await askedFor('* | facets', 10_000, ['_msg', 'app', 'a'], (text) => {
      if (!text.includes('in_doubt AS r')) return [];
      const sets = (text.match(/ AS c\d+/g) ?? []).length + 1;
      return [[String(2 ** sets - 2), '1', '1', '1', [], '1']];
    });
    expect(asked).to.have.length(3);
    expect(asked[2]).to.contain('f_app) AS').and.to.contain('toString(stream_id) AS').and.not.to.contain('entries');
  });
  for (const [what, query, sampled] of [
    ['few entries match', '* | facets', 9_999],
    ['the counts do not tell the filter', 'word | facets', 10_000],
  ] as const)
    it(`ask the entries where ${what}`, async () => {
      const asked = await askedFor(query, sampled, ['_msg', 'app', 'a']);
      expect(asked).to.have.length(1);
      expect(asked[0]).to.contain('toString(stream_id) AS').and.to.contain('f_app) AS').and.not.to.contain('entries');
    });
  it('ask for names only where there are others than the sample shows, and then for those', async () => {
    const asked = await askedFor('word | facets', 1, ['_msg', 'a'], (text) => {
      if (text.includes('DISTINCT')) return [['rare']];
      // "others" is the last of the sets: all bits of grouping() but the lowest one
      const sets = (text.match(/ AS c\d+/g) ?? []).length + 1;
      return text.includes('GROUPING SETS') ? [[String(2 ** sets - 2), '1', '1', '1', [], '1']] : [];
    });
    expect(asked).to.have.length(3);
    expect(asked[1]).to.contain('SELECT DISTINCT k FROM (SELECT fields.keys');
    expect(asked[2]).to.contain('hasAny(').and.to.contain('GROUP BY k, v');
  });
});

import { expect } from 'chai';
import { totalOf } from '../../../api/search/alerts.ts';

describe('the number of alerts beside a page', () => {
  const table: readonly {
    readonly what: string;
    readonly onPage: number;
    readonly offset: number;
    readonly counts: string[][];
    readonly total: number;
  }[] = [
    { what: 'is what was counted', onPage: 2, offset: 0, counts: [['9']], total: 9 },
    {
      what: 'is never less than what the page shows: an alert may come between the two statements',
      onPage: 2,
      offset: 10,
      counts: [['10']],
      total: 12,
    },
    { what: 'is what was counted behind the end', onPage: 0, offset: 500, counts: [['9']], total: 9 },
    { what: 'is none where nothing was counted', onPage: 0, offset: 0, counts: [], total: 0 },
  ];
  for (const { what, onPage, offset, counts, total } of table)
    it(what, () => {
      expect(totalOf(onPage, offset, counts)).to.equal(total);
    });
});

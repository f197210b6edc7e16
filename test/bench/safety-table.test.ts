import { expect } from 'chai';
import { safetyTable, spread, type Figures, type Round } from '../../bench/safety-table.ts';

const ingest = (perSecond: number, api: number, kafka: number): Figures => ({ phase: 'ingest', perSecond, micros: { api, kafka } });

describe('the table of what safety costs', () => {
  it('has medians', () => {
    expect(spread([5, 1, 3])).to.deep.equal({ median: 3, least: 1, most: 5 });
    expect(spread([4, 1, 3, 2])).to.deep.equal({ median: 2.5, least: 1, most: 4 });
    expect(spread([7])).to.deep.equal({ median: 7, least: 7, most: 7 });
  });

  it('compares round by round, so that a slow round does not favour one', () => {
    const rounds: Round[] = [
      { with: [ingest(90, 6, 2)], without: [ingest(100, 5, 3)] },
      { with: [ingest(45, 12, 6)], without: [ingest(50, 10, 5)] },
      { with: [ingest(99, 5, 2)], without: [ingest(100, 5, 2)] },
    ];
    expect(safetyTable(rounds)).to.deep.equal([
      '| measured | entries/s | api, µs | kafka, µs | CPU of all, µs an entry |',
      '|---|---|---|---|---|',
      '| ingest, with | 90 (45 to 99) | 6.00 | 2.00 | 8.00 (7.00 to 18.00) |',
      '| ingest, without | 100 (50 to 100) | 5.00 | 3.00 | 8.00 (7.00 to 15.00) |',
      '| difference | **-10.0 %** (-10 to -1) |  |  | **0.0 %** (0 to +20) |',
    ]);
  });
});

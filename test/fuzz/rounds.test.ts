import { expect } from 'chai';
import { extent } from '../extent.ts';
import { fuzzFrames } from './frames.ts';
import { fuzzPromql } from './promql.ts';
import { fuzzLogsql } from './queries.ts';
import { rounds } from './rounds.ts';

const QUERIES = extent(1000, 20_000);
const FRAMES = extent(3000, 60_000);

describe('damaged frames and queries', function () {
  this.timeout(240_000);

  it(`${String(FRAMES)} frames: each WebSocket goes on or is closed for what its client did, and none stays`, async () => {
    const { failures, outcomes } = await fuzzFrames({ runs: FRAMES, seed: 7 });
    expect(failures).to.deep.equal([]);
    // it is no fuzz where nothing gets through, or nothing is refused
    for (const outcome of ['open', 'close 1002', 'close 1007', 'close 1008']) expect(outcomes[outcome], outcome).to.be.above(FRAMES / 500);
  });

  it(`${String(QUERIES)} queries in LogsQL: rows, 400, or refused for what they would take; statements of our own texts`, async () => {
    const { failures, outcomes } = await fuzzLogsql({ runs: QUERIES, seed: 7 });
    expect(failures).to.deep.equal([]);
    for (const status of ['200', '400']) expect(outcomes[status], status).to.be.above(QUERIES / 10);
  });

  it(`${String(QUERIES)} expressions of PromQL: a value, 400 or 422`, async () => {
    const { failures, outcomes } = await fuzzPromql({ runs: QUERIES, seed: 7 });
    expect(failures).to.deep.equal([]);
    for (const status of ['200', '400']) expect(outcomes[status], status).to.be.above(QUERIES / 10);
  });

  it('are reported by their number and what they are, where one does what it must not do', async () => {
    const { failures, outcomes } = await rounds({ runs: 30, seed: 1 }, (random) => ({
      what: 'a thing',
      run: () => (random.below(2) === 0 ? Promise.reject(new Error('bad')) : Promise.resolve('good')),
    }));
    expect(failures).to.have.length(10);
    expect(failures[0]).to.match(/^seed 1, \d+: a thing: Error: bad/);
    expect(outcomes['good']).to.be.above(3);
  });
});

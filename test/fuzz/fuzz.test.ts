import { expect } from 'chai';
import { extent } from '../extent.ts';
import { ENCODINGS } from './encodings.ts';
import { fuzzInProcess } from './in-process.ts';

const RUNS = extent(2000, 20_000);

describe('damaged bodies of all formats and encodings', function () {
  this.timeout(240_000);

  it(`${String(RUNS)}: entries, rejections or a 4xx, in time, and every accepted entry is a row`, async () => {
    const report = await fuzzInProcess({ runs: RUNS, seed: 7, only: 'logs' });
    expect(report.failures).to.deep.equal([]);
    // it is no fuzz where nothing gets through, or nothing is refused
    expect(report.accepted).to.be.above(RUNS);
    expect(report.rejected).to.be.above(RUNS / 20);
    expect(report.statuses['200']).to.be.above(RUNS / 10);
    expect(report.statuses['400']).to.be.above(1000);
  });

  it(`${String(RUNS)} of spans: the same`, async () => {
    const report = await fuzzInProcess({ runs: RUNS, seed: 11, only: 'spans' });
    expect(report.failures).to.deep.equal([]);
    expect(report.accepted).to.be.above(RUNS / 20);
    expect(report.rejected).to.be.above(RUNS / 20);
    expect(report.statuses['400']).to.be.above(RUNS / 20);
  });

  it(`${String(RUNS)} of samples of metrics: the same`, async () => {
    const report = await fuzzInProcess({ runs: RUNS, seed: 13, only: 'samples' });
    expect(report.failures).to.deep.equal([]);
    expect(report.accepted).to.be.above(RUNS);
    expect(report.rejected).to.be.above(RUNS / 20);
    expect(report.statuses['400']).to.be.above(RUNS / 20);
  });

  it('its encoders make what the decoders take', async () => {
    const { inflate } = await import('../../pipeline/compression/inflate.ts');
    const { readCoding } = await import('../../api/http/body.ts');
    const { contentEncoding } = await import('./encodings.ts');
    const body = Buffer.from('héllo '.repeat(40_000));
    for (const [name, encode] of Object.entries(ENCODINGS)) {
      const coding = readCoding(contentEncoding(name));
      const decoded = coding === null ? encode(body) : await inflate(coding, encode(body), body.length, () => new Error('too large'));
      expect(decoded.equals(body), name).to.equal(true);
    }
  });
});

import { expect } from 'chai';
import { percentWithin, servedPosts, worstLagMs } from './scenarios/served.ts';

const bucket = (method: string, status: string, le: string, count: number): string =>
  `logweir_http_request_seconds_bucket{le="${le}",method="${method}",status="${status}"} ${String(count)}`;
const process = (inTime: number, all: number, lag: string): string =>
  [
    bucket('POST', '200', '1', inTime),
    bucket('POST', '200', '+Inf', all),
    bucket('POST', '429', '+Inf', 1000),
    bucket('GET', '200', '+Inf', 1000),
    `nodejs_eventloop_lag_p99_seconds${lag}`,
  ].join('\n');

describe('what API processes tell of themselves', () => {
  it('has the share of the posts between two looks that were taken in time', () => {
    const [before, after] = [
      [process(10, 20, ' 0.01'), process(0, 0, ' 0.01')],
      [process(40, 50, ' 0.01'), process(60, 70, ' 0.01')],
    ];
    expect(percentWithin(servedPosts(before), servedPosts(after), 1)).to.equal(90);
    expect(percentWithin(servedPosts(before), servedPosts(before), 1)).to.equal(0);
  });

  it('has the lag of the process that was slowest', () => {
    expect(worstLagMs([process(0, 0, ' 0.0125'), process(0, 0, '{service="logweir"} 0.5')])).to.equal(500);
  });

  it('does not take a lag that nobody tells for none', () => {
    expect(worstLagMs([process(0, 0, ' 0.01'), ''])).to.be.NaN;
  });
});

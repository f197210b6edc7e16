import { expect } from 'chai';
import { rrweb } from '../../../pipeline/normalizers/rrweb.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';
import { takeEvents } from '../replay/take-events.ts';

/** What becomes of a body of so many events. */
function taken(count: number): { readonly accepted: number; readonly rejected: number; readonly first: unknown } {
  const now = Number(RECEIVED_AT / 1_000_000n);
  const events = Array.from({ length: count }, (_none, at) => `{"timestamp":${String(now + at)},"type":3,"data":{}}`);
  const result = takeEvents(rrweb, `{"session_id":"s","events":[${events.join(',')}]}`);
  if ('status' in result) throw new Error(result.detail);
  const [first] = result.rejected;
  return {
    accepted: result.total - result.rejectedCount,
    rejected: result.rejectedCount,
    first: first && { index: first.index, reason: first.reason },
  };
}

describe('a body of session replay', () => {
  it('has 20,000 events at most: further ones are rejected, by their index', () => {
    expect(taken(20_000)).to.deep.equal({ accepted: 20_000, rejected: 0, first: undefined });
    expect(taken(130_000)).to.deep.equal({
      ...{ accepted: 20_000, rejected: 110_000 },
      first: { index: 20_000, reason: 'more than 20,000 events in a body' },
    });
  });
});

import { expect } from 'chai';
import { countSessions, differences } from './replay-sessions.ts';

const line = (event: unknown): string => `12 5 ${JSON.stringify(event)}`;
const error = line({ type: 5, data: { tag: 'error', payload: {} }, timestamp: 1 });
const note = line({ type: 5, data: { tag: 'note', payload: {} }, timestamp: 1 });
const click = line({ type: 3, data: { source: 2, type: 2, id: 1, x: 1, y: 1 }, timestamp: 1 });
const body = (...lines: readonly string[]): string => lines.map((one) => `${one}\n`).join('');

describe('the recount of sessions', () => {
  it('counts events, errors and clicks of all batches, and a batch that came again once', () => {
    const rows = [
      { session: 'a', seq: '0', body: body(error, click) },
      { session: 'a', seq: '7', body: body(note) },
      { session: 'a', seq: '0', body: body(error, click) },
      { session: 'b', seq: '0', body: body(note, error, click, click) },
    ];
    expect(Object.fromEntries(countSessions(rows))).to.deep.equal({
      a: { events: 3, errors: 1, clicks: 1 },
      b: { events: 4, errors: 1, clicks: 2 },
    });
  });

  it('finds a session that is missing, one too many, and one with another count', () => {
    const counts = { events: 2, errors: 1, clicks: 0 };
    const told = new Map([['same', counts], ['more', counts], ['other', { ...counts, errors: 2 }]]); // prettier-ignore
    const counted = new Map([['same', counts], ['missing', counts], ['other', counts]]); // prettier-ignore
    expect(differences(told, counted)).to.deep.equal([
      'more: 2 events, 1 errors, 0 clicks; counted none',
      'other: 2 events, 2 errors, 0 clicks; counted 2 events, 1 errors, 0 clicks',
      'missing: none; counted 2 events, 1 errors, 0 clicks',
    ]);
  });
});

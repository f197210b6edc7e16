import { expect } from 'chai';
import { StreamOutlet } from '../../../api/live/streams/stream-outlet.ts';
import { eventStream, jsonLines } from '../../../api/live/streams/tail-text.ts';
import { UnsentShare } from '../../../api/live/unsent-share.ts';

describe('a tail as one answer', () => {
  it('gives what it was given, in order, and knows what was not taken', async () => {
    const outlet = new StreamOutlet(jsonLines);
    outlet.control({ type: 'ready' });
    outlet.entry(Buffer.from('{"a":1}'), () => 'p');
    expect(outlet.unsent).to.equal(8);
    const parts = outlet[Symbol.asyncIterator]();
    expect((await parts.next()).value).to.equal('');
    expect(String((await parts.next()).value)).to.equal('{"a":1}\n');
    const next = parts.next();
    outlet.entry(Buffer.from('{"a":2}\n{"a":3}'), () => 'p');
    expect(String((await next).value)).to.equal('{"a":2}\n{"a":3}\n');
    outlet.close();
    expect((await parts.next()).done).to.equal(true);
    expect(outlet.unsent).to.equal(0);
    outlet.entry(Buffer.from('{}'), () => 'p');
    expect(outlet.unsent).to.equal(0);
  });

  it('as events: an id behind the last row of an entry, and names of their own for what is told', () => {
    expect(eventStream.entry(Buffer.from('{"a":1}\n{"a":2}'), () => 'p~1')).to.equal('data: {"a":1}\n\nid: p~1\ndata: {"a":2}\n\n');
    expect(eventStream.control({ type: 'position', position: 'p~2' })).to.equal('event: position\nid: p~2\ndata: {}\n\n');
    expect(eventStream.control({ type: 'error', detail: 'no' })).to.equal('event: failed\ndata: {"detail":"no"}\n\n');
  });
});

describe('what may wait for clients that read slowly', () => {
  it('is a quarter of a megabyte for one that takes nothing, more for one that does, and less where much waits for all', () => {
    const share = new UnsentShare();
    const leave = Array.from({ length: 256 }, () => share.add({ unsent: 256 * 1024 }));
    expect([share.mostOfOne(false, 100), share.mostOfOne(true, 100)]).to.deep.equal([16 * 1024, 256 * 1024]);
    leave[0]?.();
    expect([share.mostOfOne(false, 1000), share.mostOfOne(true, 1000)]).to.deep.equal([256 * 1024, 1024 * 1024]);
  });
});

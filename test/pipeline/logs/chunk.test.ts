import { expect } from 'chai';
import { readStreams } from '../../fakes/log-record.ts';
import { entriesOfChunk, newWriter } from './entry-lines.ts';

/** Of a record's batch: half of what Kafka takes. */
const MOST = 4 * 1024 * 1024;

describe('the records of a request', () => {
  it('stay small where the labels of its streams are the larger part, and grow by every escape', () => {
    const writer = newWriter();
    // what a protocol without escapes can put into 2 MB: each control character is seven bytes in the header
    for (let n = 0; n < 1000; n++) writer.add({ _msg: 'm', host: `${String(n)}${'\u0001'.repeat(2000)}` });
    expect(writer.rejected.first).to.deep.equal([]);
    const chunks = writer.chunks();
    let rows = 0;
    for (const chunk of chunks) {
      let text = 0;
      for (const [, stream] of readStreams(chunk.streams).toMap()) text += Buffer.byteLength(stream.text);
      expect(text).to.be.below(chunk.streams.bytes);
      expect(chunk.streams.bytes).to.be.below(MOST);
      expect(chunk.streams.encode().length).to.be.at.most(chunk.streams.bytes);
      rows += entriesOfChunk(chunk).length;
    }
    expect(rows).to.equal(1000);
    expect(chunks.length).to.be.greaterThan(5);
  });
});

import { expect } from 'chai';
import { encodeLogHeaders } from '../../../pipeline/logs/record.ts';
import { entriesOfChunk, newWriter } from './entry-lines.ts';

/** Of a record's batch: half of what Kafka takes. */
const MOST = 4 * 1024 * 1024;

describe('the records of a request', () => {
  it('stay small where the labels of its streams are the larger part, and grow by every escape', () => {
    const writer = newWriter();
    // what a protocol without escapes can put into 2 MB: each control character is seven bytes in the header
    for (let n = 0; n < 1000; n++) writer.add({ _msg: 'm', host: `${String(n)}${'\u0001'.repeat(2000)}` });
    expect(writer.rejected).to.deep.equal([]);
    const chunks = writer.chunks();
    let rows = 0;
    for (const chunk of chunks) {
      const info = { tenantId: 1, retentionDays: 0, count: chunk.count, bytes: 0, encoding: 'columns' };
      const headers = encodeLogHeaders({ ...info, streams: chunk.streams.toMap() });
      expect(Buffer.byteLength(String(headers['streams']))).to.be.below(MOST);
      expect(Buffer.byteLength(String(headers['streams']))).to.be.at.most(chunk.streams.bytes);
      rows += entriesOfChunk(chunk).length;
    }
    expect(rows).to.equal(1000);
    expect(chunks.length).to.be.greaterThan(5);
  });
});

import { expect } from 'chai';
import { joined, whole } from '../../../../pipeline/processors/base/slices.ts';

const MB = 1024 * 1024;

describe('what is joined in slices', () => {
  it('is what Buffer.concat gives, with no more than 4 MiB copied in a slice', () => {
    const parts = [3, 0, 10 * MB, 7, 4 * MB, 1].map((size, index) => Buffer.alloc(size, index + 1));
    expect(whole(joined(parts)).equals(Buffer.concat(parts))).to.equal(true);
    expect([...joined(parts)]).to.have.length(2);
    expect([...joined([Buffer.alloc(64 * MB)])]).to.have.length(15);
    expect(whole(joined([]))).to.have.length(0);
  });
});

import { expect } from 'chai';
import { Patience } from '../../../api/ingest/patience.ts';

describe('patience of a request', () => {
  let now = 0;
  const taking = async (ms: number, error?: Error): Promise<string> => {
    await Promise.resolve();
    now += ms;
    if (error !== undefined) throw error;
    return 'done';
  };

  it('is one for all that a request waits for', async () => {
    const patience = new Patience(() => now);
    expect(patience.leftMs).to.equal(6500);
    expect(await patience.during(taking(2500))).to.equal('done');
    expect(patience.leftMs).to.equal(4000);
    await patience.during(null);
    expect(patience.leftMs).to.equal(4000);
    // its client sends the body meanwhile
    now += 60_000;
    expect(patience.leftMs).to.equal(4000);
    const error = new Error('refused');
    expect(await patience.during(taking(1000, error)).catch((thrown: unknown) => thrown)).to.equal(error);
    expect(patience.leftMs).to.equal(3000);
  });

  it('leaves Kafka some time', async () => {
    const patience = new Patience(() => now);
    await patience.during(taking(10_000));
    expect(patience.leftMs).to.equal(1500);
  });
});

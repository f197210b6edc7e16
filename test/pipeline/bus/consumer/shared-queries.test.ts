import { expect } from 'chai';
import type { Kafka } from 'kafkajs';
import { SharedQueries } from '../../../../pipeline/bus/consumer/shared-queries.ts';

describe('shared queries', () => {
  let [connections, open, sent] = [0, 0, 0];
  let answer: () => Promise<void>;
  const kafka = {
    admin: () => {
      connections += 1;
      return {
        connect: () => Promise.resolve(void (open += 1)),
        disconnect: () => Promise.resolve(void (open -= 1)),
        fetchTopicOffsets: async () => {
          const number = (sent += 1);
          await answer();
          return number;
        },
      };
    },
  } as unknown as Kafka;
  const ask = (queries: SharedQueries): Promise<unknown> => queries.use((admin) => admin.fetchTopicOffsets('t'));
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  beforeEach(() => {
    [connections, open, sent] = [0, 0, 0];
    answer = () => Promise.resolve();
  });

  it('sends one for all that ask at the same time, over one connection that is closed behind them', async () => {
    const queries = new SharedQueries(kafka, 1000);
    expect(await Promise.all(Array.from({ length: 50 }, () => ask(queries)))).to.deep.equal(Array.from({ length: 50 }, () => 1));
    await turn();
    expect([connections, open]).to.deep.equal([1, 0]);
    expect(await ask(queries)).to.equal(2);
  });

  it('gives no answer that was asked for earlier', async () => {
    const queries = new SharedQueries(kafka, 1000);
    let release = (): void => undefined;
    answer = () => new Promise((resolve) => (release = resolve));
    const first = ask(queries);
    while (sent === 0) await turn();
    const later = [ask(queries), ask(queries)];
    answer = () => Promise.resolve();
    while (sent < 2) await turn();
    release();
    expect([await first, ...(await Promise.all(later))]).to.deep.equal([1, 2, 2]);
  });

  it('begins with a new connection after one that failed', async () => {
    const queries = new SharedQueries(kafka, 1000);
    answer = () => Promise.reject(new Error('cut off'));
    const failed = await ask(queries).catch((error: unknown) => String(error));
    expect(failed).to.contain('cut off');
    answer = () => Promise.resolve();
    expect(await ask(queries)).to.equal(2);
    expect(connections).to.equal(2);
  });
});

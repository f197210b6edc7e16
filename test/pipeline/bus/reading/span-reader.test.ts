import { expect } from 'chai';
import type { EachBatchPayload, Kafka } from 'kafkajs';
import { readSpans } from '../../../../pipeline/bus/reading/span-reader.ts';

/** A Kafka that hands over batches of these offsets, one after the other, and goes on until it is told to end. */
function kafkaOf(batches: readonly (readonly number[])[]): { readonly kafka: Kafka; readonly handed: () => number } {
  let handed = 0;
  let running = true;
  const consumer = {
    events: { GROUP_JOIN: 'join', CRASH: 'crash' },
    on: () => undefined,
    connect: () => Promise.resolve(),
    subscribe: () => Promise.resolve(),
    disconnect: () => {
      // a batch that was fetched is still handed over
      setImmediate(() => (running = false));
      return new Promise((resolve) => setTimeout(resolve, 20));
    },
    run: async ({ eachBatch }: { eachBatch: (payload: EachBatchPayload) => Promise<void> }) => {
      for (const offsets of batches) {
        if (!running) return;
        handed += 1;
        const messages = offsets.map((offset) => ({ offset: String(offset) }));
        await eachBatch({
          batch: { partition: 0, messages, lastOffset: () => String(offsets.at(-1)) },
          pause: () => () => undefined,
        } as unknown as EachBatchPayload);
      }
    },
  };
  return { kafka: { consumer: () => consumer } as unknown as Kafka, handed: () => handed };
}

describe('spans of a topic', () => {
  const read = (kafka: Kafka, to: number, take: (offsets: readonly string[]) => Promise<void>): Promise<void> =>
    readSpans({
      kafka,
      topic: 't',
      spans: new Map([[0, { from: 1, to }]]),
      groupPrefix: 'g',
      take: (_partition, messages) => take(messages.map(({ offset }) => offset)),
    });

  it('are read from their beginning to their end', async () => {
    const taken: string[] = [];
    await read(kafkaOf([[0, 1], [2, 3], [4]]).kafka, 4, (offsets) => Promise.resolve(void taken.push(...offsets)));
    expect(taken).to.deep.equal(['1', '2', '3']);
  });

  it('are not taken any more after one could not be', async () => {
    let tries = 0;
    const { kafka, handed } = kafkaOf([[1], [2], [3]]);
    const failed = await read(kafka, 9, () => {
      tries += 1;
      return Promise.reject(new Error('full'));
    }).catch((error: unknown) => error);
    expect(failed).to.be.an('error').with.property('message', 'full');
    expect([tries, handed() > 1]).to.deep.equal([1, true]);
  });
});

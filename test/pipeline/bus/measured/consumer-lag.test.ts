import { expect } from 'chai';
import type { Kafka } from 'kafkajs';
import { ConsumerLag } from '../../../../pipeline/bus/measured/consumer-lag.ts';
import { eventually } from '../../../fakes/eventually.ts';

describe('lag of a consumer group', () => {
  it('is what is on the topic and not committed, of the partitions of this process, also after Kafka was away', async () => {
    let connections = 0;
    const admin = () => {
      const away = connections++ === 0;
      return {
        connect: () => Promise.resolve(),
        disconnect: () => Promise.resolve(),
        fetchOffsets: () =>
          Promise.resolve([
            {
              topic: 't',
              partitions: [
                { partition: 0, offset: '7' },
                { partition: 1, offset: '-1' },
                { partition: 2, offset: '5' },
              ],
            },
          ]),
        fetchTopicOffsets: () =>
          away
            ? Promise.reject(new Error('away'))
            : Promise.resolve([
                { partition: 0, low: '2', high: '10' },
                { partition: 1, low: '4', high: '10' },
                { partition: 2, low: '8', high: '10' },
                { partition: 3, low: '0', high: '10' },
              ]),
      };
    };
    const lags = new Map<number, number>();
    const meter = new ConsumerLag({
      kafka: { admin } as unknown as Kafka,
      topic: 't',
      groupId: 'g',
      partitions: () => [0, 1, 2],
      onLag: (partition, lag) => lags.set(partition, lag),
      onDeleted: () => undefined,
      everyMs: 1,
    });
    await meter.start();
    await eventually(
      'the lags',
      () => lags.size,
      (size) => size === 3,
    );
    await meter.stop();
    // of partition 2 retention has taken what was not committed
    expect([...lags]).to.deep.equal([[0, 3], [1, 6], [2, 2]]); // prettier-ignore
  });

  it('goes away with a partition that moves to another process, also with the last one', async () => {
    const admin = () => ({
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      fetchOffsets: () => Promise.resolve([{ topic: 't', partitions: [0, 1].map((partition) => ({ partition, offset: '1' })) }]),
      fetchTopicOffsets: () => Promise.resolve([0, 1].map((partition) => ({ partition, low: '0', high: '5' }))),
    });
    let partitions = [0, 1];
    const lags = new Map<number, number>();
    const meter = new ConsumerLag({
      kafka: { admin } as unknown as Kafka,
      topic: 't',
      groupId: 'g',
      partitions: () => partitions,
      onLag: (partition, lag) => lags.set(partition, lag),
      onDeleted: (partition) => lags.delete(partition),
      everyMs: 1,
    });
    await meter.start();
    const shown = (count: number) => eventually(`${String(count)} lags`, () => lags.size, (size) => size === count); // prettier-ignore
    await shown(2);
    partitions = [1];
    await shown(1);
    expect([...lags.keys()]).to.deep.equal([1]);
    partitions = [];
    await shown(0);
    partitions = [0];
    await shown(1);
    await meter.stop();
  });

  it('is not told of a partition that moved while Kafka was asked', async () => {
    let partitions = [0];
    let looks = 0;
    const admin = () => ({
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      fetchOffsets: () => Promise.resolve([{ topic: 't', partitions: [{ partition: 0, offset: '1' }] }]),
      fetchTopicOffsets: () => {
        partitions = [];
        looks += 1;
        return Promise.resolve([{ partition: 0, low: '0', high: '5' }]);
      },
    });
    const told: number[] = [];
    const meter = new ConsumerLag({
      kafka: { admin } as unknown as Kafka,
      topic: 't',
      groupId: 'g',
      partitions: () => partitions,
      onLag: (partition) => told.push(partition),
      onDeleted: () => undefined,
      everyMs: 1,
    });
    await meter.start();
    await eventually('a look', () => looks, (count) => count > 0); // prettier-ignore
    await meter.stop();
    expect(told).to.deep.equal([]);
  });
});

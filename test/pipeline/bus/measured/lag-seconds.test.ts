import { expect } from 'chai';
import type { Kafka } from 'kafkajs';
import { AdminConnection } from '../../../../pipeline/bus/connection/admin-connection.ts';
import { overdue, LagSeconds } from '../../../../pipeline/bus/measured/lag-seconds.ts';

describe('age of unread records', () => {
  const cases: readonly (readonly [string, { low: number; committed: number; young: number }, boolean])[] = [
    ['all consumed', { low: 0, committed: 9, young: 5 }, false],
    ['consumed up to the first young one', { low: 0, committed: 5, young: 5 }, false],
    ['one old record not consumed', { low: 0, committed: 4, young: 5 }, true],
    ['nothing consumed and nothing old', { low: 0, committed: -1, young: 0 }, false],
    ['nothing consumed, old ones there', { low: 0, committed: -1, young: 3 }, true],
    ['the old ones deleted already', { low: 7, committed: 4, young: 7 }, false],
    ['an empty partition', { low: 12, committed: 4, young: 12 }, false],
  ];
  for (const [what, position, old] of cases)
    it(`${what}: ${old ? 'in danger' : 'fine'}`, () => expect(overdue([{ partition: 1, ...position }]) !== undefined).to.equal(old));

  /** The admin client of a Kafka with one partition; `retention` as the topic has it. */
  const kafka = (retention: string, committed: string, asked: number[] = []): { connection: AdminConnection; connects: () => number } => {
    let connects = 0;
    const admin = {
      connect: () => { connects += 1; return Promise.resolve(); },
      disconnect: () => Promise.resolve(),
      describeConfigs: () => retention === 'down' ? Promise.reject(new Error('down')) : Promise.resolve({ resources: [{ configEntries: [{ configName: 'retention.ms', configValue: retention }] }] }),
      fetchOffsets: () => Promise.resolve([{ topic: 't', partitions: [{ partition: 0, offset: committed }] }]),
      fetchTopicOffsets: () => Promise.resolve([{ partition: 0, offset: '10', high: '10', low: '0' }]),
      fetchTopicOffsetsByTimestamp: (_topic: string, since: number) => { asked.push(since); return Promise.resolve([{ partition: 0, offset: '6' }]); },
    }; // prettier-ignore
    return { connection: new AdminConnection({ admin: () => admin } as unknown as Kafka, 1000), connects: () => connects };
  };

  it('is that of the group that is furthest, where several store the same', async () => {
    const { connection } = kafka('1000', '0');
    const groups: Record<string, string> = { dead: '3', alive: '6' };
    const of = (groupId: string, others: string[]): Promise<string | null> => {
      const query: AdminConnection['query'] = (ask) =>
        connection.query((admin) =>
          ask({
            ...admin,
            fetchOffsets: (wanted: { groupId: string }) =>
              Promise.resolve([{ topic: 't', partitions: [{ partition: 0, offset: groups[wanted.groupId] ?? '-1' }] }]),
          } as never),
        );
      return new LagSeconds({ connection: { query }, topic: 't', groupId, others, now: () => 5000 }).check();
    };
    expect(await of('dead', ['alive'])).to.equal(null);
    expect(await of('dead', []), 'alone it is in danger').to.match(/partition 0/);
    expect(await of('dead', ['new'])).to.match(/partition 0/);
  });

  it('is measured against 70 % of the retention of the topic', async () => {
    const asked: number[] = [];
    const age = new LagSeconds({ connection: kafka('1000', '5', asked).connection, topic: 'logs.v1', groupId: 'g', now: () => 5000 });
    expect(await age.check()).to.match(/logs\.v1, partition 0/);
    expect(asked).to.deep.equal([4300]);
    expect(await new LagSeconds({ connection: kafka('1000', '6').connection, topic: 't', groupId: 'g' }).check()).to.equal(null);
    expect(await new LagSeconds({ connection: kafka('-1', '0').connection, topic: 't', groupId: 'g' }).check()).to.equal(null);
  });

  it('is looked at again later where nothing is in danger, and each time where something is', async () => {
    for (const [retention, committed, gaps] of [
      ['604800000', '6', [10_000, 10_000]], // the default
      ['-1', '0', [10_000, 10_000]],
      ['100000', '6', [300, 300]], // 30 s are left of 100 s
      ['604800000', '5', [1, 1]],
    ] as const) {
      let time = 0;
      let looks = 0;
      const { connection } = kafka(retention, committed);
      const query: AdminConnection['query'] = (ask) => {
        looks += 1;
        return connection.query(ask);
      };
      const age = new LagSeconds({ connection: { query }, topic: 't', groupId: 'g', elapsed: () => time });
      const found = await age.check();
      for (const gap of gaps) {
        const before = looks;
        time += gap - 1;
        expect(await age.check()).to.equal(found);
        expect(looks - before, retention).to.equal(gap === 1 ? 1 : 0);
        time += 1;
        expect(await age.check()).to.equal(found);
        expect(looks - before, retention).to.equal(gap === 1 ? 2 : 1);
      }
    }
  });

  it('is not known while Kafka does not answer, and is asked on a new connection then', async () => {
    const fake = kafka('down', '0');
    const age = new LagSeconds({ connection: fake.connection, topic: 't', groupId: 'g' });
    for (const times of [1, 2]) {
      const failure = await age.check().catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
      expect(fake.connects()).to.equal(times);
    }
  });
});

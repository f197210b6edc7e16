import { expect } from 'chai';
import { pino } from 'pino';
import { topics } from '../../../main/topics.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { ensureTopics } from '../../../pipeline/bus/records/topics.ts';
import { checkTopics } from '../../../pipeline/bus/connection/topic-settings.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';

describe('settings of topics that others have made', function () {
  this.timeout(600_000);
  let broker: LeasedBroker;
  before(async () => {
    broker = await leaseBroker();
  });
  after(async () => {
    await broker.giveBack();
  });

  it('are compared with what Kafka says of them; those of ours are well', async () => {
    const kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log: pino({ level: 'silent' }) });
    const admin = kafka.admin();
    await admin.connect();
    const configEntries = [{ name: 'retention.bytes', value: '1000000' }];
    await admin.createTopics({ topics: [{ topic: 'logs.v1', numPartitions: 1, replicationFactor: 1, configEntries }] });
    await admin.disconnect();
    await ensureTopics(kafka, topics.members, { partitions: 1 });
    const { refused, warnings } = await checkTopics(kafka, topics.members);
    expect(refused.map((sentence) => sentence.split(';')[0])).to.deep.equal(['The topic logs.v1 has message.timestamp.type=CreateTime']);
    expect(warnings.map((sentence) => sentence.split(';')[0])).to.deep.equal(['The topic logs.v1 has retention.bytes=1000000']);
  });
});

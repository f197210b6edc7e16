import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { startKafka, type Kafka } from '../../../compose/embedded/kafka.ts';
import { topics } from '../../../main/topics.ts';
import { createKafka } from '../../../pipeline/bus/kafka.ts';
import { ensureTopics } from '../../../pipeline/bus/topics.ts';
import { checkTopics } from '../../../pipeline/bus/topic-settings.ts';

describe('settings of topics that others have made', function () {
  this.timeout(600_000);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'logweir-topics-'));
  let broker: Kafka;
  before(async () => {
    broker = await startKafka({ dataDir });
  });
  after(async () => {
    await broker.stop();
    rmSync(dataDir, { recursive: true, force: true });
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

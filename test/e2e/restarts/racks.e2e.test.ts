import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { topics } from '../../../main/topics.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { checkTopics } from '../../../pipeline/bus/connection/topic-settings.ts';
import { ensureTopics } from '../../../pipeline/bus/records/topics.ts';
import { BROKER_NAMES } from '../../faults/broker-network.ts';
import { openBrokers } from '../../faults/brokers.ts';
import type { Running } from '../../faults/kept-process.ts';
import { freePorts } from '../../free-ports.ts';
import { until } from '../instance.ts';

describe('three brokers in two racks', function () {
  this.timeout(600_000);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'logweir-racks-'));
  let running: readonly Running[] = [];
  after(async () => {
    await Promise.all(running.map((broker) => broker.stop()));
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('have the copies of each partition in both, two in sync; what others have made in one rack is told', async () => {
    const ports = [...(await freePorts(15))];
    const racks = { 'kafka-1': 'a', 'kafka-2': 'a', 'kafka-3': 'b' };
    const takePort = (): number => ports.pop() as number;
    const brokers = await openBrokers({ dataDir, takePort, proxied: [], between: null, racks, settings: {} });
    running = await Promise.all(BROKER_NAMES.map((name) => brokers.launch(name)(() => undefined)));

    const kafka = createKafka({ brokers: brokers.addresses().split(','), clientId: 'test', log: pino({ level: 'silent' }) });
    const admin = kafka.admin();
    await admin.connect();
    // brokers 1 and 2 are both in rack a
    await admin.createTopics({
      waitForLeaders: false,
      topics: [
        {
          topic: 'control.v1',
          replicaAssignment: [{ partition: 0, replicas: [1, 2] }],
          configEntries: [{ name: 'cleanup.policy', value: 'compact' }],
        },
      ],
    });
    // only one of them is known by its address
    await ensureTopics(kafka, topics.members, { partitions: 4, brokers: 1, replication: 2, minInSync: 1 });
    // a broker that is asked may not have heard of a new topic yet
    const placed = async () => (await admin.fetchTopicMetadata({ topics: ['control.v1', 'logs.v1'] }).catch(() => ({ topics: [] }))).topics;
    // they come in any order
    const known = await until('the topics', placed, ({ length }) => length === 2);
    await admin.disconnect();
    const partitions = known.find(({ name }) => name === 'logs.v1')?.partitions ?? [];
    expect(partitions).to.have.length(4);
    for (const { replicas } of partitions) expect(replicas).to.have.length(2).and.to.include(3);
    const { refused, warnings } = await checkTopics(kafka, topics.members, 2);
    expect(refused).to.deep.equal([]);
    const [own, others] = [warnings.filter((text) => !text.includes('control.v1')), warnings.filter((text) => text.includes('racks'))];
    expect(own).to.deep.equal([]);
    expect(others)
      .to.have.length(1)
      .and.to.match(/control\.v1 has all copies of a partition in 1 of 2 racks/);
  });
});

import { expect } from 'chai';
import { topics } from '../../../../main/topics.ts';
import { topicConfig, type TopicSpec } from '../../../../pipeline/bus/records/topics.ts';
import { topicFaults, type TopicState } from '../../../../pipeline/bus/connection/topic-settings.ts';

const spec = (name: string): TopicSpec => {
  const found = topics.find(name);
  if (found === undefined) throw new Error(`There is no topic ${name}.`);
  return found;
};

/** A topic as we make it, with some settings changed. */
function stateOf(name: string, replicas: number, change: Readonly<Record<string, string>> = {}): TopicState {
  const { configEntries = [] } = topicConfig(spec(name), { partitions: 2, replicas });
  const own = configEntries.map(({ name: setting, value }) => [setting, value] as const);
  const defaults = [['message.timestamp.type', 'CreateTime'] as const, ['retention.bytes', '-1'] as const];
  return { settings: new Map([...defaults, ...own, ...Object.entries(change)]), replicas };
}

describe('settings of topics that exist', () => {
  const ok = (name: string, replicas: number, change: Readonly<Record<string, string>> = {}): void => {
    it(`${name}, ${String(replicas)} replicas, ${JSON.stringify(change)}: well`, () =>
      expect(topicFaults(spec(name), stateOf(name, replicas, change))).to.deep.equal({ refused: [], warnings: [] }));
  };
  const bad = (
    kind: 'refused' | 'warnings',
    name: string,
    replicas: number,
    change: Readonly<Record<string, string>>,
    message: RegExp,
  ): void => {
    it(`${name}, ${String(replicas)} replicas, ${JSON.stringify(change)}: ${kind}`, () => {
      const { [kind]: found, ...rest } = topicFaults(spec(name), stateOf(name, replicas, change));
      expect(found).to.have.length(1);
      expect(found[0]).to.match(message);
      expect(Object.values(rest)).to.deep.equal([[]]);
    });
  };

  for (const { name } of topics.members) for (const replicas of [1, 2, 3]) ok(name, replicas);
  ok('usage.v1', 1, { 'cleanup.policy': 'compact' });
  ok('control.v1', 1, { 'message.timestamp.type': 'LogAppendTime', 'retention.bytes': '1000' });
  ok('logs.v1', 5, { 'min.insync.replicas': '3' });

  bad(
    'refused',
    'logs.v1',
    1,
    { 'message.timestamp.type': 'CreateTime' },
    /^The topic logs\.v1 has message\.timestamp\.type=CreateTime; it must be/,
  );
  bad('refused', 'dead-letter.v1', 1, { 'message.timestamp.type': 'CreateTime' }, /LogAppendTime/);
  bad('refused', 'logs.v1', 1, { 'cleanup.policy': 'compact' }, /it must be delete/);
  bad('refused', 'logs.v1', 1, { 'cleanup.policy': 'compact,delete' }, /it must be delete/);
  bad('refused', 'control.v1', 1, { 'cleanup.policy': 'compact,delete' }, /it must be compact, else Kafka deletes what is needed/);
  bad('refused', 'control.v1', 1, { 'cleanup.policy': 'delete' }, /it must be compact/);
  bad('refused', 'usage.v1', 1, { 'cleanup.policy': 'delete' }, /it must be compact,delete/);
  bad('refused', 'logs.v1', 1, { 'min.insync.replicas': '2' }, /1 replicas: Kafka takes no record/);
  it('fewer replicas than configured, and copies in fewer racks than they could be in, are told', () => {
    const told = (replicas: number, racks: number | undefined, wanted: { replication?: number; racks?: number }): readonly string[] =>
      topicFaults(spec('logs.v1'), { ...stateOf('logs.v1', replicas), ...(racks === undefined ? {} : { racks }) }, wanted).warnings;
    expect(told(1, undefined, { replication: 3 }))
      .to.have.length(1)
      .and.to.match(/has 1 replicas, and LOGWEIR_KAFKA_REPLICATION is 3/);
    expect(told(3, 1, { replication: 3, racks: 3 }))
      .to.have.length(1)
      .and.to.match(/in 1 of 3 racks/);
    expect(told(3, 2, { racks: 3 })).to.match(/in 2 of 3 racks/);
    for (const well of [told(3, 3, { racks: 3 }), told(3, 2, { racks: 2 }), told(1, 1, { racks: 3 }), told(3, undefined, { racks: 2 })])
      expect(well).to.deep.equal([]);
  });
  bad('warnings', 'logs.v1', 3, { 'min.insync.replicas': '1' }, /may be on one broker alone/);
  bad('warnings', 'control.v1', 3, { 'min.insync.replicas': '3' }, /nothing is taken while one broker is unavailable/);
  bad('warnings', 'logs.v1', 1, { 'retention.bytes': '1000' }, /records may be deleted before they are stored/);
});

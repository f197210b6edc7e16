import { expect } from 'chai';
import { HttpError } from '../../../pipeline/core/errors.ts';
import type { KafkaDoor } from '../../../api/doors/kafka-door-file.ts';
import { KafkaSource } from '../../../api/doors/kafka-source.ts';
import { doorWorld, type DoorWorld } from '../../fakes/door-world.ts';
import { eventually } from '../../fakes/eventually.ts';
import { otlpRecord } from '../../fakes/otlp-record.ts';
import { SourceKafka } from '../../fakes/source-kafka.ts';

const door: KafkaDoor = {
  ...{ name: 'shop', kind: 'kafka', key: 'one', parameters: {}, brokers: ['kafka:9092'], topics: ['orders'], group: 'logweir-shop' },
  ...{ from: 'beginning', format: 'json', contentType: '', tls: null, sasl: null },
};
const entry = (text: string): string => JSON.stringify({ _msg: text });
const entries = (from: number, count: number): string[] => Array.from({ length: count }, (_, index) => entry(String(from + index)));

describe('the door of Kafka', () => {
  let world: DoorWorld;
  let users: SourceKafka;
  let source: KafkaSource;
  const open = async (change: Partial<KafkaDoor> = {}, limits?: Parameters<typeof doorWorld>[0], isAway = false): Promise<void> => {
    [world, users] = [doorWorld(limits), new SourceKafka()];
    users.isAway = isAway;
    source = new KafkaSource({ ...world.context, door: { ...door, ...change }, topic: 'orders', kafka: users.kafka });
    await source.start();
    if (!isAway) await reading();
  };
  const reading = (): Promise<boolean> =>
    eventually(
      'the reader',
      () => users.isRead,
      (isRead) => isRead,
    );
  afterEach(() => source.stop());

  it('puts records on the log, and then commits them', async () => {
    await open();
    expect(users.wanted).to.deep.include({ topic: 'orders', fromBeginning: true });
    expect(users.wanted[0]).to.include({ groupId: 'logweir-shop.orders', allowAutoTopicCreation: false });
    await users.give(1, 40, [entry('a'), null, entry('b')], 7);
    expect(world.published()).to.deep.equal(['1 a', '1 b']);
    expect(users.committed).to.deep.equal([{ partition: 1, offset: '43' }]);
    expect(users.resolved.at(-1)).to.equal('42');
    expect(await world.figure('logweir_door_records_total', { topic: 'orders' })).to.equal(3);
    expect(await world.figure('logweir_door_lag_records', { topic: 'orders' })).to.equal(7);
    expect(source.warning).to.equal(null);
  });

  it('commits a large batch group by group', async () => {
    await open();
    await users.give(0, 0, entries(0, 2500));
    expect(world.published()).to.have.length(2500);
    expect(users.committed.map(({ offset }) => offset)).to.deep.equal(['1000', '2000', '2500']);
    expect(world.publisher.written, 'records are joined').to.have.length(3);
  });

  it('takes the formats of the paths, a record as a body', async () => {
    await open({ format: 'otlp_logs' });
    await users.give(0, 0, [otlpRecord('first'), otlpRecord('second')]);
    expect(world.published().sort()).to.deep.equal(['1 first', '1 second']);
    await source.stop();
    await open({ format: 'syslog' });
    await users.give(0, 0, ['<13>one', '7 <13>two', 'three']);
    expect(world.published().sort()).to.deep.equal(['1 one', '1 three', '1 two']);
  });

  it('begins at the end where it is told', async () => {
    await open({ from: 'latest' });
    expect(users.wanted).to.deep.include({ topic: 'orders', fromBeginning: false });
  });

  it('refuses a record that cannot be read by itself, shows it, and goes on', async () => {
    await open();
    await users.give(0, 5, [entry('a'), '{"_msg": broken}', 'no JSON', entry('b'), '\n']);
    expect(world.published().sort()).to.deep.equal(['1 a', '1 b']);
    expect(users.committed.at(-1)).to.deep.equal({ partition: 0, offset: '10' });
    expect(await world.figure('logweir_door_lost_total', { door: 'shop', reason: 'refused' })).to.equal(3);
    const shown = world.rejections.of(1);
    expect(shown.every(({ path, status }) => path === 'kafka:shop' && status === 400)).to.equal(true);
    expect(shown.map(({ client }) => client)).to.include.members(['orders/0@6', 'orders/0@7', 'orders/0@9']);
  });

  it('passes over a record that is larger than a request may be', async () => {
    await open();
    await users.give(0, 0, [entry('x'.repeat(3_000_000)), entry('b')]);
    expect(world.published()).to.deep.equal(['1 b']);
    expect(await world.figure('logweir_door_lost_total', { reason: 'length' })).to.equal(1);
    expect(world.rejections.of(1)[0]).to.include({ status: 413, path: 'kafka:shop' });
  });

  it('reads no further while its tenant is refused for a while, and then takes all once', async () => {
    let refusals = 0;
    const admit = (): void => {
      refusals += 1;
      if (refusals === 1) throw new HttpError(429, 'rate_limited', 'Later.', { retryAfter: 1 });
    };
    await open({}, [{ name: 'one second', admit }]);
    const given = users.give(0, 0, entries(0, 3));
    await eventually(
      'a refusal',
      () => world.rejections.of(1).length,
      (count) => count > 0,
    );
    expect(users.committed).to.deep.equal([]);
    await given;
    expect(world.published()).to.deep.equal(['1 0', '1 1', '1 2']);
    expect(users.committed).to.deep.equal([{ partition: 0, offset: '3' }]);
    expect(await world.figure('logweir_door_lost_total')).to.equal(0);
  });

  it('waits for a key that is accepted, and says so; what waits as it stops is not committed', async () => {
    await open();
    world.keys.keys.delete('one');
    const given = users.give(0, 0, entries(0, 3));
    await eventually(
      'the warning',
      () => source.warning,
      (warning) => warning !== null,
    );
    expect(source.warning).to.match(/^The door shop reads no further in the topic orders: .*key/);
    await source.stop();
    await given;
    expect([users.committed, users.resolved, world.published()]).to.deep.equal([[], [], []]);
  });

  it('gives up what waits when the group says that it does not belong to it any more', async () => {
    await open();
    world.publisher.full = true;
    users.isRebalancing = true;
    const given = await users.give(0, 0, entries(0, 3)).catch((error: unknown) => String(error));
    expect(given).to.equal('Error: rebalancing');
    expect([users.committed, users.resolved]).to.deep.equal([[], []]);
  });

  it('repeats a commit, not the records', async () => {
    await open();
    users.failingCommits = 1;
    await users.give(0, 0, entries(0, 3));
    expect(world.published()).to.have.length(3);
    expect(users.committed).to.deep.equal([{ partition: 0, offset: '3' }]);
  });

  it('starts though its Kafka is away, warns, and reads once it is there', async () => {
    await open({}, undefined, true);
    const why = 'The door shop does not read the topic orders: it could not join its group at kafka:9092 (away).';
    await eventually(
      'the reason',
      () => source.warning,
      (warning) => warning === why,
    );
    users.isAway = false;
    await reading();
    expect(source.warning).to.equal(null);
  });
});

import { expect } from 'chai';
import type { IHeaders, Kafka as Client } from 'kafkajs';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { adminCommand } from '../../../cli/admin.ts';
import { encodeDeadLetter, type DeadLetter } from '../../../pipeline/bus/records/dead-letter.ts';
import { DeadLetters } from '../../../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { LOGS_TOPIC } from '../../../pipeline/logs/record.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { plainHeaders, type PlainStream } from '../../fakes/log-record.ts';
import { extent } from '../../extent.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

type Listed = { reason: string; partition: number; offset: number; stored: boolean; detail: string; stage: string };
type Message = { readonly partition: number; readonly value: Buffer | null; readonly headers: IHeaders };
type Tally = { letters: number; stored: number; to_replay: number; replayed: number; left: boolean };

const log = pino({ level: 'silent' });
const row = (text: string): string =>
  `{"_time":"${String(Date.now())}000000","_stream_id":"7","severity":3,"_msg":"${text}","fields":{"app":"web"}}\n`;
const stream: PlainStream = ['7', '{app="web"}', Math.floor(Date.now() / 86_400_000)];
const BYTES = 100;

describe('records that cannot be stored, on real engines', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  let begun: string;
  let kafka: Client;
  let store: Store;
  let letters: DeadLetters;

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    begun = new Date().toISOString();
    const read = (...file: string[]): string => readFileSync(path.join(instance.dataDir, ...file), 'utf8').trim();
    kafka = createKafka({ brokers: [read('kafka', 'brokers')], clientId: 'test', log });
    const { password } = JSON.parse(read('clickhouse', 'secrets.json')) as { password: string };
    const owner = { user: 'logweir', password, readerUser: 'logweir', readerPassword: password };
    store = new Store({ url: read('clickhouse', 'url'), database: 'logweir', ...owner });
    letters = new DeadLetters(kafka);
  });
  after(async () => {
    await letters.stop();
    await store.close();
  });

  const record = (partition: number, rows: readonly string[], more: IHeaders = {}): Message => ({
    partition,
    value: Buffer.from(rows.join('')),
    headers: { ...plainHeaders({ tenantId: tenant.id, retentionDays: 0, bytes: BYTES, count: rows.length }, stream), ...more },
  });

  async function admin<Answer>(...argv: string[]): Promise<Answer> {
    let text = '';
    const write = (part: string): void => void (text += part);
    const code = await adminCommand([...argv, '--json'], instance.env, { out: write, err: write });
    if (code !== 0) throw new Error(text);
    return JSON.parse(text) as Answer;
  }
  const list = (...argv: string[]): Promise<Listed[]> => admin('dead-letter', 'list', '--limit', '10000', ...argv);
  const replay = async (...argv: string[]): Promise<Tally> => (await admin<Tally[]>('dead-letter', 'replay', ...argv))[0] as Tally;

  /** Puts records on the topic as some producer might; gives where they lie. */
  async function produce(messages: readonly Message[]): Promise<{ partition: number; offset: number }[]> {
    const producer = kafka.producer();
    await producer.connect();
    const placed: { partition: number; offset: number }[] = [];
    for (const partition of new Set(messages.map((message) => message.partition))) {
      const own = messages.filter((message) => message.partition === partition);
      const [answer] = await producer.send({ topic: LOGS_TOPIC, acks: -1, messages: own });
      own.forEach((_, index) => placed.push({ partition, offset: Number(answer?.baseOffset) + index }));
    }
    await producer.disconnect();
    return placed;
  }

  /** How often each text is stored, of those that begin so. */
  async function stored(prefix: string): Promise<Map<string, number>> {
    const rows = await store.ownerRows('SELECT _msg, toString(count()) FROM logs WHERE startsWith(_msg, {prefix:String}) GROUP BY _msg', {
      prefix,
    });
    return new Map(rows.map(([text, count]) => [String(text), Number(count)]));
  }
  const settled = (prefix: string, texts: number): Promise<Map<string, number>> =>
    until(`${texts} different texts ${prefix}`, () => stored(prefix), (found) => found.size === texts, 240_000); // prettier-ignore
  const once = (found: ReadonlyMap<string, number>): boolean => [...found.values()].every((times) => times === 1);
  /** Waits until the sink has committed all that is on the topic. */
  async function consumed(): Promise<void> {
    const client = kafka.admin();
    await client.connect();
    try {
      await until(
        'the end of the topic',
        async () => {
          const [group] = await client.fetchOffsets({ groupId: 'logweir-sink-logs', topics: [LOGS_TOPIC] });
          const ends = await client.fetchTopicOffsets(LOGS_TOPIC);
          return ends.map(
            ({ partition, high }) => Number(high) - Number(group?.partitions.find((one) => one.partition === partition)?.offset),
          );
        },
        (lags) => lags.every((lag) => lag === 0),
        240_000,
      );
    } finally {
      await client.disconnect();
    }
  }

  it('are kept apart, whole and with the reason, where one of 1,000 is corrupt; all others are stored once', async () => {
    const corrupt: [string, Message][] = [
      ['foreign', { partition: 0, value: null, headers: record(0, []).headers }],
      ['foreign', record(1, [row('bad')], { encoding: 'avro' })],
      ['version', record(0, [row('bad')], { sv: '9' })],
      ['headers', record(1, [row('bad')], { tenant: '-1' })],
      ['headers', record(0, [row('bad')], { streams: '[["7","no labels"]]' })],
      ['rows', record(1, [row('bad'), row('bad')], { count: '3' })],
      ['rows', record(0, [row('bad').slice(0, 40)])],
      ['rows', record(1, [row('bad'), row('bad').replace('"fields":{', '"fields":[')])],
      ['rows', record(0, [row('bad').replace('"severity":3', '"severity":9')])],
      ['rows', record(1, [row('bad').replace('\n', '') + row('bad')])],
    ];
    const messages: Message[] = [];
    const wanted: { index: number; reason: string }[] = [];
    for (let n = 0; n < 10_000; n++) {
      const [reason, message] =
        n % 1000 === 500 ? (corrupt[(n - 500) / 1000] as [string, Message]) : ['', record(n % 2, [row(`one ${n}`), row(`two ${n}`)])];
      if (reason !== '') wanted.push({ index: n, reason });
      messages.push(message);
    }
    const sorted = messages.map((message, index) => ({ message, index })).sort((a, b) => a.message.partition - b.message.partition);
    const placed = await produce(sorted.map(({ message }) => message));
    const expected = wanted.map(({ index, reason }) => {
      const at = placed[sorted.findIndex((one) => one.index === index)];
      return { reason, partition: at?.partition ?? -1, offset: at?.offset ?? -1, stored: false };
    });
    const [one, two] = [await settled('one ', 9990), await settled('two ', 9990)];
    expect([once(one), once(two)]).to.deep.equal([true, true]);
    await consumed();
    expect((await stored('bad')).size).to.equal(0);
    const listed = await list('--from', begun);
    const order = (a: Pick<Listed, 'partition' | 'offset'>, b: Pick<Listed, 'partition' | 'offset'>): number =>
      a.partition - b.partition || a.offset - b.offset;
    expect(
      listed.map(({ reason, partition, offset, stored: is }) => ({ reason, partition, offset, stored: is })).sort(order),
    ).to.deep.equal(expected.sort(order));
    // byte for byte
    const kept = new Map<string, DeadLetter>();
    await letters.read(0, (some) => {
      for (const letter of some) kept.set(`${letter.partition}:${letter.offset}`, letter);
      return Promise.resolve(true);
    });
    for (const { index } of wanted) {
      const at = sorted.findIndex((one) => one.index === index);
      const { value, headers } = kept.get(`${placed[at]?.partition}:${placed[at]?.offset}`)?.original ?? {};
      expect(value).to.deep.equal(messages[index]?.value);
      const text = (all: IHeaders | undefined): object =>
        Object.fromEntries(Object.entries(all ?? {}).map(([name, part]) => [name, String(part)]));
      expect(text(headers)).to.deep.equal(text(messages[index]?.headers));
    }
    expect((await list('--reason', 'version')).map(({ reason }) => reason)).to.deep.equal(['version']);
    expect((await list('--from', new Date(Date.now() + 60_000).toISOString())).length).to.equal(0);
  });

  it('are stored once by a replay when the cause is mended, however often it is done and whoever dies', async () => {
    await store.command("ALTER TABLE logs ADD CONSTRAINT narrow CHECK NOT startsWith(_msg, 'wide')");
    const began = new Date().toISOString();
    const post = (text: string): Promise<{ status: number }> =>
      instance.call('POST', `${instance.ingest}/api/v1/ingest`, [{ _msg: text }], { Authorization: `Bearer ${tenant.key}` });
    const texts = Array.from({ length: 60 }, (_, n) => `${n % 3 === 0 ? 'wide' : 'thin'} ${n}`);
    for (const text of texts) expect((await post(text)).status).to.equal(200);
    await settled('thin', 40);
    await until('20 dead letters', () => list('--reason', 'refused', '--from', began), (found) => found.length > 0 && found.length <= 20, 240_000); // prettier-ignore
    await consumed();
    const refused = await list('--reason', 'refused', '--from', began);
    expect(refused[0]).to.include({ stage: 'sink logs: insert', stored: false });
    expect(refused[0]?.detail).to.match(/ClickHouse 469 VIOLATED_CONSTRAINT/);
    const args = ['--reason', 'refused', '--from', began];
    // of the records of the test before all but one count (its tenant is none), and of these requests their bodies
    const bytes = 9999 * BYTES + texts.reduce((sum, text) => sum + JSON.stringify([{ _msg: text }]).length, 0);
    const usage = async (): Promise<number> => (await admin<{ bytes: number }[]>('usage', '--tenant', String(tenant.id)))[0]?.bytes ?? 0;
    await until('all of it counted', usage, (counted) => counted >= bytes, 240_000);

    // not mended: they are dead letters again, of the same positions
    expect(await replay(...args)).to.include({ letters: refused.length, stored: 0, replayed: refused.length });
    await consumed();
    expect((await stored('wide')).size).to.equal(0);
    expect((await list(...args)).map(({ offset }) => offset).sort()).to.deep.equal(refused.map(({ offset }) => offset).sort());

    await store.command('ALTER TABLE logs DROP CONSTRAINT narrow');
    expect(await replay(...args, '--dry-run')).to.include({ letters: refused.length, stored: 0, to_replay: refused.length, replayed: 0 });
    await consumed();
    expect((await stored('wide')).size).to.equal(0);
    expect((await replay(...args)).replayed).to.equal(refused.length);
    const all: DeadLetter[] = [];
    await letters.read(Date.parse(began), (some) => Promise.resolve(all.push(...some)).then(() => true));
    // past the question whether they are stored, with kills in between
    for (let n = 0; n < extent(1, 3); n++) {
      await letters.replay(all);
      process.kill(instance.processes().get('sink')?.pid ?? 0, 'SIGKILL');
      await until('a new sink', () => instance.call('GET', `${instance.admin}/ready`), ({ status }) => status === 200, 240_000); // prettier-ignore
    }
    expect(once(await settled('wide', 20))).to.equal(true);
    await consumed();
    expect(once(await stored('wide'))).to.equal(true);
    expect((await list(...args)).every((letter) => letter.stored)).to.equal(true);
    expect(await replay(...args)).to.include({ letters: refused.length, stored: refused.length, replayed: 0 });
    expect(await usage()).to.equal(bytes);
  });

  it('stop the partition where all are corrupt, and nothing is skipped; it goes on when the table takes them', async () => {
    const before = (await list()).length;
    await store.command("ALTER TABLE logs ADD CONSTRAINT none CHECK NOT startsWith(_msg, 'all')");
    const placed = await produce(Array.from({ length: 500 }, (_, n) => record(0, [row(`all ${n}`)])));
    const ready = (): Promise<{ status: number; body: unknown }> => instance.call('GET', `${instance.admin}/ready`);
    const { body } = await until('a stop', ready, ({ status }) => status === 503, 240_000);
    expect((body as { failing: string[] }).failing).to.deep.equal(['sink: dead letters']);
    const lag = await until(
      'the lag',
      async () =>
        Number(
          /^logweir_consumer_lag\{topic="logs\.v1",partition="0"[^}]*\} (\d+)/m.exec(
            String((await instance.call('GET', `${instance.admin}/metrics`)).body),
          )?.[1],
        ),
      (value) => value > 0,
    );
    const dead = (await list()).length - before;
    expect(dead).to.be.at.most(100);
    // and what says that time has passed, since nothing came
    expect(lag).to.be.within(400, 600);
    // the other partition goes on
    await produce([record(1, [row('other side')])]);
    await settled('other side', 1);
    expect(readFileSync(path.join(instance.dataDir, 'logs', 'sink.log'), 'utf8')).to.contain('A partition is halted');
    await store.command('ALTER TABLE logs DROP CONSTRAINT none');
    const first = placed[0]?.offset ?? 0;
    expect(once(await settled('all ', 500 - dead))).to.equal(true);
    await until('the end of the stop', ready, ({ status }) => status === 200, 240_000);
    if (dead > 0) await replay('--reason', 'refused', '--from', '1h');
    expect(once(await settled('all ', 500))).to.equal(true);
    expect((await list()).filter(({ partition, offset }) => partition === 0 && offset >= first).every((letter) => letter.stored)).to.equal(
      true,
    );
  });

  it('may have been written with anything in their headers', async () => {
    const original = {
      key: Buffer.from('k'),
      value: Buffer.from([0, 255]),
      headers: { a: [Buffer.from('1'), Buffer.from('2')] },
      timestamp: '5',
    };
    const letter: DeadLetter = {
      reason: 'foreign',
      detail: 'd',
      stage: 's',
      topic: 'elsewhere.v1',
      partition: 3,
      offset: 9,
      version: '0',
      original,
    };
    await letters.write([letter]);
    const found: DeadLetter[] = [];
    await letters.read(Date.now() - 60_000, (some) =>
      Promise.resolve(found.push(...some.filter(({ topic }) => topic === letter.topic))).then(() => true),
    );
    expect(encodeDeadLetter(found[0] as DeadLetter)).to.deep.equal(encodeDeadLetter(letter));
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { startKafka, type Kafka } from '../../compose/embedded/kafka.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { atEnd } from '../at-end.ts';
import { until } from '../e2e/instance.ts';

/** Those that nobody uses now. */
const idle: LeasedBroker[] = [];

/**
 * A broker without topics and groups, which a file of tests has for itself until it gives it back: a start takes nine seconds of CPU. Topics have
 * the names that the program gives them, so two files at once would not do with prefixes. It ends with the tests of this process.
 */
export async function leaseBroker(): Promise<LeasedBroker> {
  return idle.pop() ?? LeasedBroker.start();
}

/** See `leaseBroker`. */
export class LeasedBroker {
  readonly dataDir = mkdtempSync(path.join(os.tmpdir(), 'logweir-broker-'));
  #kafka: Kafka | null = null;

  static async start(): Promise<LeasedBroker> {
    const broker = new LeasedBroker();
    const end = (): void => {
      broker.#kafka?.kill();
      rmSync(broker.dataDir, { recursive: true, force: true });
    };
    atEnd(end);
    process.once('exit', end);
    broker.#kafka = await startKafka({ dataDir: broker.dataDir });
    return broker;
  }

  get #running(): Kafka {
    if (this.#kafka === null) throw new Error('The broker has not started.');
    return this.#kafka;
  }

  /** What clients connect to: `127.0.0.1:PORT`. */
  get brokers(): string {
    return this.#running.brokers;
  }

  /** Its logs, a folder for each partition. */
  get logDir(): string {
    return path.join(this.dataDir, 'kafka', 'data');
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.#running.kill();
    await this.#running.exited;
  }

  /** Starts one that was killed, on the same ports, with the data that it had. */
  async restart(): Promise<void> {
    this.#kafka = await startKafka({ dataDir: this.dataDir, ports: this.#running.ports });
  }

  /** Deletes its topics and groups, and lets another file have it; where a member of a group was killed it ends instead. */
  async giveBack(): Promise<void> {
    const admin = createKafka({ brokers: [this.brokers], clientId: 'test', log: pino({ level: 'silent' }) }).admin();
    await admin.connect();
    const groupIds = (await admin.listGroups()).groups.map(({ groupId }) => groupId);
    const { groups } = await admin.describeGroups(groupIds);
    const isFree = groups.every(({ members }) => members.length === 0);
    if (isFree) {
      if (groupIds.length > 0) await admin.deleteGroups(groupIds);
      const own = async (): Promise<string[]> => (await admin.listTopics()).filter((topic) => !topic.startsWith('__'));
      const topics = await own();
      if (topics.length > 0) await admin.deleteTopics({ topics });
      await until('the end of the topics', own, ({ length }) => length === 0);
    }
    await admin.disconnect();
    if (isFree) idle.push(this);
    else await this.kill();
  }
}

import { askClickHouse } from '../engine.ts';
import { until, type Instance } from '../instance.ts';
import { pace } from '../pace.ts';

/** Entries of a body. */
export const PER_BODY = 25;
/** Entries of a body while the first ones are sent. */
const PER_FIRST_BODY = 1000;
/** Whose entries they are: the tenant of the bootstrap key. */
export const TENANT = { id: 1, key: 'e2e-key_0123456789' };

/** Sends entries, spans and samples to whichever instance runs, one body after the other. What is not acknowledged may be stored or not. */
export class BackupLoad {
  url = '';
  readonly acknowledged = new Set<string>();
  spans = 0;
  #sent = 0;
  #isOver = false;
  readonly #first: number;
  readonly #running: Promise<void>;

  /** So many entries come `first`, in larger bodies. */
  constructor(instance: Instance, first: number) {
    this.url = instance.ingest;
    this.#first = first;
    this.#running = this.#run();
  }

  /** Waits until so many more are acknowledged than now. */
  async untilMore(more: number): Promise<void> {
    const wanted = this.acknowledged.size + more;
    await until(`${wanted} acknowledged entries`, () => Promise.resolve(this.acknowledged.size), (count) => count >= wanted); // prettier-ignore
  }

  /** Waits until as many different entries are stored as are acknowledged. */
  async untilStored(instance: Instance): Promise<void> {
    const distinct = async (): Promise<string> =>
      (await askClickHouse(instance, "SELECT uniqExact(_msg) FROM logs WHERE _msg LIKE 'backup %'"))[0]?.[0] ?? '';
    await until('all entries', distinct, (count) => Number(count) >= this.acknowledged.size);
  }

  /** What is acknowledged, and not stored just once. */
  async notOnce(instance: Instance): Promise<string[]> {
    const names = await askClickHouse(instance, "SELECT _msg, count() FROM logs WHERE _msg LIKE 'backup %' GROUP BY _msg");
    const counts = new Map(names.map(([name = '', count]) => [name, Number(count)]));
    return [...this.acknowledged].filter((name) => counts.get(name) !== 1);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const length = this.acknowledged.size > this.#first ? PER_BODY : PER_FIRST_BODY;
      const names = Array.from({ length }, () => `backup ${String(this.#sent++)}`);
      const body = names.map((name, at) => JSON.stringify({ _msg: name, app: `app-${String(at % 5)}`, level: 'info' })).join('\n');
      if (await this.#post('/api/v1/ingest', body, 'application/x-ndjson')) for (const name of names) this.acknowledged.add(name);
      if (await this.#post('/v1/traces', JSON.stringify(spanOf(this.#sent)), 'application/json')) this.spans += 1;
      await this.#post('/api/v2/write', `load,app=a sent=${String(this.#sent)}\n`, 'text/plain');
      await pace();
    }
  }

  #post(at: string, body: string, type: string): Promise<boolean> {
    const headers = { Authorization: `Bearer ${TENANT.key}`, 'Content-Type': type };
    return fetch(`${this.url}${at}`, { method: 'POST', body, headers }).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

function spanOf(number: number): object {
  const began = BigInt(Date.now()) * 1_000_000n;
  const hex = (length: number): string => number.toString(16).padStart(length, '1');
  const span = {
    traceId: hex(32),
    spanId: hex(16),
    name: 'work',
    kind: 2,
    startTimeUnixNano: String(began),
    endTimeUnixNano: String(began + 5n),
  };
  return { resourceSpans: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: 'load' } }] }, scopeSpans: [{ spans: [span] }] }] }; // prettier-ignore
}

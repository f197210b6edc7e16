import type { Logger } from 'pino';
import { readAndFollow, type CompactedLog, type CompactedRecord } from '../../core/compacted-log.ts';
import type { Service } from '../../core/service.ts';
import { parseDelivery, type Delivery } from './delivery.ts';

export type OutboxOptions = {
  readonly log: CompactedLog;
  readonly logger: Logger;
  readonly retryMs?: number;
  /** How long a record may take until it is read back. Milliseconds. */
  readonly writeMs?: number;
};

type Coming = { readonly tenantId: number; readonly bytes: number };
type Kept = { readonly delivery: Delivery; readonly bytes: number };

/** Deliveries of a tenant, and of all, pending and failed together; and bytes. */
const MOST_OF_TENANT = { count: 1000, bytes: 4_000_000 };
const MOST = { count: 10_000, bytes: 40_000_000 };

/**
 * Deliveries that are pending or have failed, on a compacted topic that every node reads: nothing is lost with a process. It is bounded
 * for each tenant: a new delivery takes the place of the oldest that has failed, and is refused where all are pending.
 */
export class Outbox implements Service {
  readonly name = 'outbox of webhooks';
  readonly #options: OutboxOptions;
  readonly #stop = new AbortController();
  readonly #kept = new Map<string, Kept>();
  readonly #tenants = new Map<number, Set<string>>();
  /** Deliveries that are being written, and failed ones that make place for them. */
  readonly #coming = new Map<string, Coming>();
  readonly #leaving = new Set<string>();
  #bytes = 0;
  #offset = -1n;
  #isReady = false;
  #reading: Promise<unknown> | null = null;
  readonly #waiters = new Set<() => void>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Reads behind: nothing waits for it. */
  start(): Promise<void> {
    const { log, logger, retryMs = 500 } = this.#options;
    const onFailure = (error: unknown, wait: number): void => {
      logger.warn({ err: error, retryMs: wait }, 'The outbox of webhooks cannot be read yet.');
    };
    this.#reading = readAndFollow(log, this.#onRecord, { signal: this.#stop.signal, retryMs, onFailure }).then((isRead) => {
      this.#isReady = isRead;
    });
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#options.log.stop();
    await this.#reading;
  }

  /** True once it was read to its end: before, deliveries may be there that are done. */
  get ready(): boolean {
    return this.#isReady;
  }

  get all(): Iterable<Delivery> {
    return [...this.#kept.values()].map(({ delivery }) => delivery);
  }

  find(id: string): Delivery | undefined {
    return this.#kept.get(id)?.delivery;
  }

  /** Of a tenant, oldest first. */
  of(tenantId: number): Delivery[] {
    const own = [...(this.#tenants.get(tenantId) ?? [])].map((id) => (this.#kept.get(id) as Kept).delivery);
    return own.sort((a, b) => a.madeAt - b.madeAt);
  }

  /** Takes a new delivery; one that is there already is unchanged. False where it does not fit. Rejects where Kafka does not accept it. */
  async add(delivery: Delivery): Promise<boolean> {
    if (this.#kept.has(delivery.id) || this.#coming.has(delivery.id)) return true;
    const own = this.of(delivery.tenantId);
    const bytes = sizeOf(delivery);
    const [coming, comingOfAll] = [this.#comingOf((one) => one.tenantId === delivery.tenantId), this.#comingOf(() => true)];
    const ownBytes = own.reduce((sum, { id }) => sum + (this.#kept.get(id)?.bytes ?? 0), coming.bytes);
    const isFull = own.length + coming.count >= MOST_OF_TENANT.count || ownBytes + bytes > MOST_OF_TENANT.bytes;
    const oldest = isFull ? own.find(({ id, state }) => state === 'failed' && !this.#leaving.has(id)) : undefined;
    if (isFull && oldest === undefined) return false;
    if (!isFull && (this.#kept.size + comingOfAll.count >= MOST.count || this.#bytes + comingOfAll.bytes + bytes > MOST.bytes))
      return false;
    this.#coming.set(delivery.id, { tenantId: delivery.tenantId, bytes });
    if (oldest !== undefined) this.#leaving.add(oldest.id);
    try {
      if (oldest !== undefined) await this.remove(oldest.id);
      await this.change(delivery);
    } finally {
      this.#coming.delete(delivery.id);
      if (oldest !== undefined) this.#leaving.delete(oldest.id);
    }
    return true;
  }

  /** What was accepted and is not read back yet. */
  #comingOf(isMeant: (one: Coming) => boolean): { readonly count: number; readonly bytes: number } {
    let [count, bytes] = [0, 0];
    for (const [id, one] of this.#coming) if (!this.#kept.has(id) && isMeant(one)) [count, bytes] = [count + 1, bytes + one.bytes];
    return { count, bytes };
  }

  /** Writes down how a delivery is now. */
  async change(delivery: Delivery): Promise<void> {
    await this.#write(delivery.id, JSON.stringify(delivery));
  }

  async remove(id: string): Promise<void> {
    await this.#write(id, null);
  }

  /** Resolves when this node has read it back. */
  async #write(key: string, value: string | null): Promise<void> {
    const offset = await this.#options.log.append(key, value);
    if (this.#offset >= offset) return;
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        settle();
      };
      const look = (): void => {
        if (this.#offset >= offset) end(resolve);
      };
      const timer = setTimeout(() => {
        end(() => {
          reject(new Error('A record of the outbox was not read back in time.'));
        });
      }, this.#options.writeMs ?? 10_000);
      this.#waiters.add(look);
    });
  }

  readonly #onRecord = ({ offset, key, value }: CompactedRecord): void => {
    const before = this.#kept.get(key);
    if (before !== undefined) this.#drop(before);
    const delivery = value === null ? null : parseDelivery(key, value);
    if (delivery !== null) this.#keep(delivery);
    if (offset > this.#offset) this.#offset = offset;
    for (const look of [...this.#waiters]) look();
  };

  #keep(delivery: Delivery): void {
    const bytes = sizeOf(delivery);
    this.#kept.set(delivery.id, { delivery, bytes });
    this.#bytes += bytes;
    const own = this.#tenants.get(delivery.tenantId) ?? new Set<string>();
    this.#tenants.set(delivery.tenantId, own.add(delivery.id));
  }

  #drop({ delivery, bytes }: Kept): void {
    this.#kept.delete(delivery.id);
    this.#bytes -= bytes;
    const own = this.#tenants.get(delivery.tenantId);
    own?.delete(delivery.id);
    if (own?.size === 0) this.#tenants.delete(delivery.tenantId);
  }
}

const sizeOf = (delivery: Delivery): number => Buffer.byteLength(JSON.stringify(delivery));

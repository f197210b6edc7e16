/** Batches that are not acknowledged yet, in IndexedDB: they survive a reload, a closed tab, and hours without a network. */

/** A batch as it is sent, known by its session and number. */
export type StoredBatch = {
  /** Whose it is: a session, or of entries of the log the page that had them. */
  readonly session: string;
  readonly seq: number;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly isGzip: boolean;
  /** When it was made, milliseconds since 1970. */
  readonly at: number;
};

const STORE = 'batches';
/** Older ones are dropped: the service would refuse them. */
const MOST_AGE_MS = 7 * 86_400_000;

const done = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => {
      resolve(request.result);
    };
    request.onerror = () => {
      reject(request.error ?? new Error('IndexedDB failed.'));
    };
  });

/** Without IndexedDB (private windows, sandboxes) batches are in memory, and end with the page. */
export class BatchStore {
  readonly #name: string;
  readonly #mostBytes: number;
  readonly #memory = new Map<string, StoredBatch>();
  #database: IDBDatabase | null = null;
  /** What came since the last look at all of them. Bytes. */
  #newBytes = 0;

  /** `name`: of its database; `mostBytes`: what all batches may take, of which the oldest go first. */
  constructor(name: string, mostBytes: number) {
    this.#name = name;
    this.#mostBytes = mostBytes;
  }

  async open(): Promise<void> {
    try {
      const request = indexedDB.open(this.#name, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore(STORE, { keyPath: ['session', 'seq'] });
      };
      this.#database = await done(request);
    } catch {
      this.#database = null;
    }
  }

  /** Also of a page that does not live to see it done. */
  async put(batch: StoredBatch): Promise<void> {
    const store = this.#store('readwrite');
    if (store === null) this.#memory.set(keyOf(batch), batch);
    else {
      const request = store.put(batch);
      // by itself it would be when the page has heard of it
      store.transaction.commit();
      await done(request).catch(() => this.#memory.set(keyOf(batch), batch));
    }
    this.#newBytes += batch.body.length;
    // while nothing can be sent, no one else looks
    if (this.#newBytes > this.#mostBytes / 10) await this.all();
  }

  async remove(batch: Pick<StoredBatch, 'session' | 'seq'>): Promise<void> {
    this.#memory.delete(keyOf(batch));
    const store = this.#store('readwrite');
    if (store !== null) await done(store.delete([batch.session, batch.seq])).catch(() => undefined);
  }

  async clear(): Promise<void> {
    this.#memory.clear();
    const store = this.#store('readwrite');
    if (store !== null) await done(store.clear()).catch(() => undefined);
  }

  /** All batches, oldest first. What is too much, or too old, is dropped. */
  async all(): Promise<StoredBatch[]> {
    this.#newBytes = 0;
    const store = this.#store('readonly');
    const kept = store === null ? [] : await done(store.getAll() as IDBRequest<StoredBatch[]>).catch(() => []);
    const batches = [...kept, ...this.#memory.values()].sort((one, other) => one.at - other.at || one.seq - other.seq);
    let bytes = batches.reduce((sum, { body }) => sum + body.length, 0);
    const oldest = Date.now() - MOST_AGE_MS;
    while (batches[0] !== undefined && (bytes > this.#mostBytes || batches[0].at < oldest)) {
      const [dropped] = batches.splice(0, 1);
      if (dropped === undefined) break;
      bytes -= dropped.body.length;
      await this.remove(dropped);
    }
    return batches;
  }

  #store(mode: IDBTransactionMode): IDBObjectStore | null {
    try {
      return this.#database?.transaction(STORE, mode).objectStore(STORE) ?? null;
    } catch {
      return null;
    }
  }
}

const keyOf = ({ session, seq }: Pick<StoredBatch, 'session' | 'seq'>): string => `${session}/${String(seq)}`;

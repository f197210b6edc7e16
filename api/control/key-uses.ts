import type { CompactedLog, CompactedRecord } from '../../pipeline/core/compacted-log.ts';

const PREFIX = 'used:';
/** A use is published where the last one that the other nodes know of is older. Milliseconds. */
const RESOLUTION_MS = 3_600_000;

/**
 * When keys were used last, over all nodes: the records `used:ID` of `control.v1`, to the hour, and to the moment what this process has
 * seen itself.
 */
export class KeyUses {
  readonly #log: Pick<CompactedLog, 'appendAll'>;
  readonly #now: () => number;
  /** Milliseconds by the id of the key: what this process has seen, and what is on the topic. */
  readonly #own = new Map<string, number>();
  readonly #published = new Map<string, number>();

  constructor(log: Pick<CompactedLog, 'appendAll'>, now: () => number = Date.now) {
    this.#log = log;
    this.#now = now;
  }

  note(keyId: string): void {
    this.#own.set(keyId, this.#now());
  }

  /** Takes a record of the topic; other records are left alone. */
  fold({ key, value }: Pick<CompactedRecord, 'key' | 'value'>): void {
    if (!key.startsWith(PREFIX)) return;
    const id = key.slice(PREFIX.length);
    const at = Date.parse(value ?? '');
    if (at > (this.#published.get(id) ?? -Infinity)) this.#published.set(id, at);
  }

  /** When a key was used last, in milliseconds; null where that is not known. */
  lastOf(keyId: string): number | null {
    const at = Math.max(this.#own.get(keyId) ?? -Infinity, this.#published.get(keyId) ?? -Infinity);
    return at === -Infinity ? null : at;
  }

  /** Publishes the uses that the other nodes do not know yet. */
  async publish(): Promise<void> {
    const news = [...this.#own].filter(([id, at]) => at - (this.#published.get(id) ?? -Infinity) >= RESOLUTION_MS);
    if (news.length > 0) await this.#log.appendAll(news.map(([id, at]) => ({ key: PREFIX + id, value: new Date(at).toISOString() })));
  }
}

import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CompactedLog, CompactedRecord } from '../../pipeline/core/compacted-log.ts';
import { authUnavailable, HttpError } from '../../pipeline/core/errors.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { KeyStore, KnownKey } from '../auth/authenticate.ts';
import type { SessionClaims } from '../auth/session-token.ts';
import { emptyControlState, fold } from './control-state.ts';
import { kindOf } from './kinds/index.ts';
import type { RecordKind } from './kinds/kind.ts';
import { KeyUses } from './key-uses.ts';
import { holderOf, isEnded } from './known-keys.ts';
import type { ControlRecord, KeyRecord, SettingRecord, SlotRecord, TenantRecord } from './records.ts';
import { placeOf } from './state.ts';

export type ControlStoreOptions = {
  readonly log: CompactedLog;
  readonly pepper: string;
  readonly logger: Logger;
  readonly retryMs?: number;
  readonly writeMs?: number;
};

type Waiter = { readonly offset: bigint; readonly resolve: (seen: boolean) => void };

/** How often the uses of keys are published. Milliseconds. */
const PUBLISH_USES_MS = 60_000;
const NO_SLOTS: ReadonlyMap<number, SlotRecord> = new Map();
/** Versions that lose against other nodes before a write gives up. */
const MAX_TRIES = 20;

/**
 * Tenants and keys, held in memory by every API node and kept up from the topic `control.v1`. Look-ups never leave the process: once
 * the topic was read they always have an answer, and an outage of Kafka leaves the last state standing. Writes go to the topic and
 * are done when this node's own fold has seen them.
 */
export class ControlStore implements Service, KeyStore {
  readonly name = 'control store';
  readonly #options: ControlStoreOptions;
  #state = emptyControlState();
  #ready = false;
  readonly #stop = new AbortController();
  #offset = -1n;
  #loading: Promise<void> | null = null;
  readonly #uses: KeyUses;
  #notification: NodeJS.Timeout | undefined;
  readonly #readyWaiters: (() => void)[] = [];
  readonly #seenWaiters = new Set<Waiter>();
  /** Own writes on their way, by the id of the write: each is resolved with whether it counts. */
  readonly #writes = new Map<string, (counts: boolean) => void>();

  constructor(options: ControlStoreOptions) {
    this.#options = options;
    this.#uses = new KeyUses(options.log);
  }

  /** Resolves after the first attempt to read the topic; where Kafka could not be reached, attempts go on behind. */
  async start(): Promise<void> {
    const first = Promise.withResolvers<void>();
    this.#loading = this.#load(first.resolve);
    await first.promise;
    this.#notification = setInterval(() => void this.#publishUses(), PUBLISH_USES_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#notification);
    await this.#options.log.stop();
    await this.#loading;
  }

  /** True once the topic was read to its end. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Offset of the last record that was folded. */
  get offset(): bigint {
    return this.#offset;
  }

  /** Resolves once the topic was read to its end. */
  async whenReady(): Promise<void> {
    if (!this.#ready) await new Promise<void>((resolve) => this.#readyWaiters.push(resolve));
  }

  /** Resolves true once the record at this offset was folded, false when that took too long. */
  seen(offset: bigint, timeoutMs: number): Promise<boolean> {
    if (this.#offset >= offset) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter = {
        offset,
        resolve: (seen: boolean) => {
          clearTimeout(timer);
          this.#seenWaiters.delete(waiter);
          resolve(seen);
        },
      };
      const timer = setTimeout(() => {
        waiter.resolve(false);
      }, timeoutMs);
      this.#seenWaiters.add(waiter);
    });
  }

  find(secret: string): KnownKey | null {
    if (!this.#ready) throw authUnavailable();
    const hash = this.hash(secret);
    const known = this.#state.known.get(hash);
    const record = known === undefined ? undefined : this.#state.keys.get(known.principal.keyId);
    if (known === undefined || record === undefined) return null;
    if (!timingSafeEqual(Buffer.from(hash), Buffer.from(record.hash))) return null;
    this.#uses.note(record.id);
    return known;
  }

  /** What a browser session stands for, by its key as it is now; null where the key, or the session, has ended. */
  findSession({ keyId, hash, id, startedAt }: SessionClaims): KnownKey | null {
    if (!this.#ready) throw authUnavailable();
    const key = this.#state.keys.get(keyId);
    const known = key === undefined ? undefined : this.#state.known.get(key.hash);
    if (key === undefined || known?.principal.keyId !== keyId || !key.hash.startsWith(hash)) return null;
    if (isEnded(this.#state.ended.get(keyId), id, startedAt)) return null;
    this.#uses.note(keyId);
    return known;
  }

  /** When a client last sent a key, in milliseconds, to the hour if to another process; null: never since uses are published. */
  lastUseOf(keyId: string): number | null {
    return this.#uses.lastOf(keyId);
  }

  /** What is stored of a secret. */
  hash(secret: string): string {
    return createHmac('sha256', this.#options.pepper).update(secret).digest('hex');
  }

  /** The key that this secret's hash belongs to, revoked or not. */
  holderOf(hash: string): KeyRecord | undefined {
    return holderOf(this.#state, hash);
  }

  ownerOf(secret: string): number | null {
    return this.holderOf(this.hash(secret))?.tenantId ?? null;
  }

  tenant(id: number): TenantRecord | undefined {
    return this.#state.tenants.get(id);
  }

  /** All tenants, by id. */
  tenants(): TenantRecord[] {
    return [...this.#state.tenants.values()].sort((a, b) => a.id - b.id);
  }

  /** The settings of processors, also removed ones, whose value is null. */
  get settings(): readonly SettingRecord[] {
    return [...this.#state.settings.values()];
  }

  /** By the key of its record. */
  setting(key: string): SettingRecord | undefined {
    return this.#state.settings.get(key);
  }

  /** What counts of a subject, by the key of its record. */
  record(key: string): ControlRecord | undefined {
    return this.#state.records.get(key);
  }

  /** Every record that counts, by its key, with its kind. */
  *allRecords(): Generator<{
    readonly key: string;
    readonly kind: RecordKind;
    readonly record: ControlRecord;
    readonly tenantId: number | null;
  }> {
    for (const [key, record] of this.#state.records) {
      const kind = kindOf(key);
      if (kind !== undefined) yield { key, kind, record, tenantId: kind.tenantOf(record, this.#state) };
    }
  }

  /** What lies in the slots of a tenant, deleted or not, by the slot. */
  slots(kind: string, tenantId: number): ReadonlyMap<number, SlotRecord> {
    return this.#state.slots.get(placeOf(kind, tenantId)) ?? NO_SLOTS;
  }

  key(id: string): KeyRecord | undefined {
    return this.#state.keys.get(id);
  }

  /** The keys of a tenant that were not revoked, oldest first. */
  keysOf(tenantId: number): KeyRecord[] {
    const ids = [...(this.#state.keysOfTenant.get(tenantId) ?? [])];
    const keys = ids.map((id) => this.#state.keys.get(id)).filter((key) => key !== undefined && key.revokedAt === null) as KeyRecord[];
    return keys.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  }

  /** The keys of a tenant that were revoked, the first one first. */
  revokedKeysOf(tenantId: number): KeyRecord[] {
    const ids = [...(this.#state.keysOfTenant.get(tenantId) ?? [])];
    const keys = ids.map((id) => this.#state.keys.get(id)).filter((key) => key !== undefined && key.revokedAt !== null) as KeyRecord[];
    return keys.sort((a, b) => Date.parse(a.revokedAt ?? '') - Date.parse(b.revokedAt ?? ''));
  }

  /**
   * Writes the next version of a subject, which `change` makes from what `read` finds now. Where another node's record of the same
   * version came first on the topic, this one does not count anywhere: the other's is appended again, since compaction keeps the last
   * record of a key, and `change` is called once more. `onCounted` is called while the state is that of the record's own place on the
   * topic, the same on every node. Throws HttpError 503 when Kafka does not take the record.
   */
  async write<Value extends ControlRecord>(
    key: string,
    read: () => Value | undefined,
    change: (current: Value | undefined) => Omit<Value, 'version' | 'write'>,
    onCounted: () => void = () => undefined,
  ): Promise<Value> {
    if (!this.#ready) throw unavailable();
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const current = read();
      const next = { ...change(current), version: (current?.version ?? 0) + 1, write: randomUUID() } as Value;
      if (await this.#append(key, next, onCounted)) return next;
      await this.#repair(key).catch((error: unknown) => {
        throw unavailable(error);
      });
    }
    throw new HttpError(409, 'conflict', 'Other nodes kept changing this at the same time; try again.');
  }

  /** Appends a record and waits until the own fold has seen it; true when it counts. */
  async #append(key: string, value: ControlRecord, onCounted: () => void): Promise<boolean> {
    const timeoutMs = this.#options.writeMs ?? 10_000;
    const folded = new Promise<boolean>((resolve) =>
      this.#writes.set(value.write, (counts) => {
        if (counts) onCounted();
        resolve(counts);
      }),
    );
    const timer = new AbortController();
    try {
      await this.#options.log.append(key, JSON.stringify(value));
      const late = sleep(timeoutMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
      const outcome = await Promise.race([folded, late]);
      if (outcome === 'late') throw new Error('The record was not read back in time.');
      return outcome;
    } catch (error) {
      throw unavailable(error);
    } finally {
      timer.abort();
      this.#writes.delete(value.write);
    }
  }

  /** Appends the record that counts where the last one of the topic does not. */
  async #repair(key: string): Promise<void> {
    const right = this.#state.records.get(key);
    if (right !== undefined && this.#state.stale.has(key)) await this.#options.log.append(key, JSON.stringify(right));
  }

  async #load(tried: () => void): Promise<void> {
    const { logger, retryMs = 500 } = this.#options;
    const { signal } = this.#stop;
    for (let wait = retryMs; !signal.aborted; wait = Math.min(wait * 2, 5000)) {
      const failure = await this.#readTopic();
      tried();
      if (failure === null) return this.#repairAll();
      logger.warn({ err: failure, retryMs: wait }, 'The control topic cannot be read yet.');
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Reads the topic and begins to follow it; gives what kept it from that. */
  async #readTopic(): Promise<unknown> {
    this.#state = emptyControlState();
    this.#offset = -1n;
    try {
      await this.#options.log.readAll(this.#onRecord);
      await this.#options.log.follow(this.#onRecord);
    } catch (error) {
      return error;
    }
    this.#becomeReady();
    return null;
  }

  /** Sets right what a node that died between losing a race and repairing it has left. */
  async #repairAll(): Promise<void> {
    try {
      for (const key of [...this.#state.stale]) await this.#repair(key);
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'A record of the control topic could not be set right; the next start tries again.');
    }
  }

  async #publishUses(): Promise<void> {
    try {
      if (this.#ready) await this.#uses.publish();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'Publishing the last use of keys failed; retrying.');
    }
  }

  #becomeReady(): void {
    this.#ready = true;
    const { tenants, keys, unreadable } = this.#state;
    this.#options.logger.info({ tenants: tenants.size, keys: keys.size, unreadable }, 'The control topic was read.');
    for (const resolve of this.#readyWaiters.splice(0)) resolve();
  }

  #warnOfSecond({ hash }: KeyRecord): void {
    const holder = this.holderOf(hash);
    const second = (this.#state.idsOfHash.get(hash) ?? []).filter((id) => id !== holder?.id);
    if (second.length > 0)
      this.#options.logger.error({ holder: holder?.id, refused: second }, 'Keys have the same secret; only the oldest is accepted.');
  }

  readonly #onRecord = (record: CompactedRecord): void => {
    const counts = fold(this.#state, record);
    this.#uses.fold(record);
    if (counts?.kind.name === 'key') this.#warnOfSecond(counts.record as KeyRecord);
    if (record.offset > this.#offset) this.#offset = record.offset;
    if (this.#writes.size > 0) this.#writes.get(writeOf(record.value))?.(counts !== null);
    for (const waiter of this.#seenWaiters) if (waiter.offset <= this.#offset) waiter.resolve(true);
  };
}

function writeOf(value: string | null): string {
  try {
    return String((JSON.parse(value ?? '{}') as { write?: unknown } | null)?.write);
  } catch {
    return '';
  }
}

function unavailable(cause?: unknown): HttpError {
  return new HttpError(503, 'control_unavailable', 'The control topic cannot be reached; retry later.', { retryAfter: 5, cause });
}

import { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { AbsoluteRecord } from '../../bus/absolute-record.ts';
import { findingValue, readFinding, type StreamFinding } from '../merge/finding.ts';
import { findingRecord } from '../merge/partials-signal.ts';
import type { Rates } from '../rates/rates-partial.ts';
import type { PartialInput } from '../merge/partial.ts';
import type { ResolutionInput } from '../merge/resolution.ts';
import type { DetectorRunner } from './detector-runner.ts';
import { DetectorWatch, type Found } from './detector-watch.ts';
import { FinalMinutes, type FinalMinute } from './final-minutes.ts';
import { isOff, readOff, type SwitchedOff } from './switch.ts';
import type { Setting } from '../../core/setting.ts';

/** Streams that a partition watches; beyond it a tenant has few of its own: as the merger `alerting`. */
const MOST_STREAMS = 12_000;
const MOST_OF_TENANT = 10_000;
const FEW_STREAMS = 100;
/** Minutes of one question, and those that may wait. */
const BATCH = 500;
const MOST_WAITING = 20_000;
/** Findings that wait to be written, beyond which nothing more is asked. */
const MOST_UNTOLD = 5000;
/** What the states of all detectors may take in a partition: bytes. */
const MOST_STATES = 32 * 1024 * 1024;
const VERSION = 1;

/** Minutes of a tenant's streams, as every detector is asked about them. */
type Batch = { readonly tenantId: number; readonly minutes: readonly FinalMinute[] };
/** What was found, and not told. */
type Untold = { readonly tenantId: number; readonly retentionDays: number; readonly found: StreamFinding };
type Tenant = { retentionDays: number; readonly minutes: FinalMinutes };

/** Of a partition of `partials.v1`: what is final and was not looked at, what each detector remembers, and what was found and not told. */
export class CustomState {
  readonly #runner: DetectorRunner;
  readonly #tenants = new Map<number, Tenant>();
  #streams = 0;
  /** Batches that some detector was not asked about, and the number of the first one. */
  #queue: Batch[] = [];
  #first = 0;
  #waiting = 0;
  #isWhole = true;
  #untold: Untold[] = [];
  readonly #off = new Map<string, SwitchedOff>();
  readonly #watches: DetectorWatch[];

  constructor(runner: DetectorRunner) {
    this.#runner = runner;
    this.#watches = runner.detectors.map(({ name, version }) => new DetectorWatch({ name, version }));
  }

  /** True while so much waits that no more is to be read. */
  get isBehind(): boolean {
    return !this.#isWhole;
  }

  /** Series that were passed over by a detector, for want of room. */
  get passedOver(): ReadonlyMap<string, number> {
    return new Map(this.#watches.map(({ detector, passedOver }) => [detector.name, passedOver]));
  }

  take({ tenantId, retentionDays, source }: PartialInput, rates: Rates): void {
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) this.#tenants.set(tenantId, (tenant = { retentionDays, minutes: new FinalMinutes() }));
    tenant.retentionDays = retentionDays;
    const before = tenant.minutes.size;
    tenant.minutes.add(rates, source.partition, source.appendedAt, this.#streams < MOST_STREAMS ? MOST_OF_TENANT : FEW_STREAMS);
    this.#streams += tenant.minutes.size - before;
    this.#collect(tenantId, tenant);
  }

  resolve({ alert }: ResolutionInput): void {
    const watch = this.#watches.find(({ detector }) => detector.name === alert.detector);
    if (watch === undefined) return;
    for (const id of this.#tenants.get(alert.tenantId)?.minutes.idsOf(alert.stream) ?? [])
      for (const side of ['up', 'down'] as const) watch.mute(alert.tenantId, id, side);
  }

  /** Switches a detector off, or on again. It begins anew then. */
  configure({ key, value }: Pick<Setting, 'key' | 'value'>): void {
    const off = readOff(value);
    const wasOff = this.#off.has(key);
    if (off === null) this.#off.delete(key);
    else this.#off.set(key, off);
    if (off === null) this.#runner.allow(key);
    const watch = this.#watches.find(({ detector }) => detector.name === key);
    if (watch === undefined) return;
    // settings are told again with each snapshot
    const isNews = off === null ? wasOff || watch.hasFailed : isOff(off, watch.detector.version);
    if (!isNews) return;
    watch.hasFailed = false;
    this.#end(watch);
  }

  /** Has detectors asked, and gives what was found since it was asked last. */
  news(): readonly AbsoluteRecord[] {
    const told = this.#untold;
    this.#untold = [];
    // where all are off, nobody else does
    this.#trim();
    if (!this.#isWhole) {
      this.#isWhole = true;
      for (const [tenantId, tenant] of this.#tenants) this.#collect(tenantId, tenant);
    }
    for (const watch of this.#watches) if (!watch.isAsked) void this.#ask(watch);
    return told.map(({ tenantId, retentionDays, found }) => findingRecord(tenantId, retentionDays, found));
  }

  write(): Buffer {
    const to = new ByteWriter();
    to.count(VERSION);
    to.count(this.#tenants.size);
    for (const [tenantId, { retentionDays, minutes }] of this.#tenants) {
      for (const number of [tenantId, retentionDays]) to.count(number);
      minutes.write(to);
    }
    to.count(this.#first);
    to.count(this.#queue.length);
    for (const { tenantId, minutes } of this.#queue) {
      for (const number of [tenantId, minutes.length]) to.count(number);
      for (const { id, minute, entries, errors, isLate } of minutes) {
        to.text(id);
        for (const number of [minute, entries, errors, isLate ? 1 : 0]) to.count(number);
      }
    }
    to.count(this.#watches.length);
    for (const watch of this.#watches) watch.write(to);
    to.count(this.#untold.length);
    for (const { tenantId, retentionDays, found } of this.#untold) {
      for (const number of [tenantId, retentionDays]) to.count(number);
      to.text(findingValue(found).toString('latin1'));
    }
    return to.finish();
  }

  /** What `write` wrote; throws where it is anything else. What detectors that are gone, or were changed, still fire ends. */
  static read(bytes: Buffer, runner: DetectorRunner): CustomState | null {
    const from = new ByteReader(bytes);
    if (from.count() !== VERSION) return null;
    const read = new CustomState(runner);
    for (let left = from.count(0xffff_ffff); left > 0; left--) {
      const [tenantId, retentionDays] = [from.count(0xffff_ffff), from.count(65_535)];
      const minutes = FinalMinutes.read(from);
      read.#tenants.set(tenantId, { retentionDays, minutes });
      read.#streams += minutes.size;
    }
    read.#first = from.count();
    for (let left = from.count(0xffff_ffff); left > 0; left--) read.#add(readBatch(from));
    read.#isWhole = false;
    // those that are new take what waits
    for (const watch of read.#watches) watch.cursor = read.#first;
    for (let left = from.count(1000); left > 0; left--) read.#restore(DetectorWatch.read(from));
    for (let left = from.count(0xffff_ffff); left > 0; left--) {
      const [tenantId, retentionDays] = [from.count(0xffff_ffff), from.count(65_535)];
      const found = readFinding(Buffer.from(from.text(), 'latin1'));
      if (found === null) return null;
      read.#untold.push({ tenantId, retentionDays, found });
    }
    return from.isAtEnd ? read : null;
  }

  #restore(watch: DetectorWatch): void {
    const at = this.#watches.findIndex(
      ({ detector: { name, version } }) => name === watch.detector.name && version === watch.detector.version,
    );
    // its minutes are not there any more where it had failed
    if (at < 0 || watch.cursor < this.#first) this.#tell(watch.end(), watch.detector.name);
    else this.#watches[at] = watch;
  }

  /** Takes what is final of a tenant, as far as there is room for it. */
  #collect(tenantId: number, { minutes: all }: Tenant): void {
    while (this.#waiting < MOST_WAITING && this.#untold.length < MOST_UNTOLD) {
      const { minutes, gone, isWhole } = all.take(BATCH);
      this.#streams -= gone.length;
      for (const id of gone) for (const watch of this.#watches) watch.forget(tenantId, id);
      if (minutes.length > 0) this.#add({ tenantId, minutes });
      if (isWhole) {
        if (all.size === 0) this.#tenants.delete(tenantId);
        return;
      }
    }
    this.#isWhole = false;
  }

  #add(batch: Batch): void {
    this.#queue.push(batch);
    this.#waiting += batch.minutes.length;
  }

  #isActive({ detector: { name, version }, hasFailed }: DetectorWatch): boolean {
    return !hasFailed && !isOff(this.#off.get(name), version);
  }

  async #ask(watch: DetectorWatch): Promise<void> {
    watch.isAsked = true;
    const { name } = watch.detector;
    for (let batch = this.#next(watch); batch !== undefined; batch = this.#next(watch)) {
      const { tenantId, minutes } = batch;
      const { cursor } = watch;
      const question = watch.question(tenantId, minutes, MOST_STATES / this.#watches.length);
      const looked = question.asked.length === 0 ? [] : await this.#runner.look(name, question.asked);
      // it was switched off in the meantime, or on again
      if (watch.cursor !== cursor || !this.#isActive(watch)) continue;
      if (looked === null) watch.hasFailed = true;
      else {
        const streams = this.#tenants.get(tenantId)?.minutes;
        this.#tell(
          watch.answer(tenantId, question, looked, (id) => streams?.has(id) === true),
          name,
        );
        watch.cursor += 1;
      }
      this.#trim();
    }
    watch.isAsked = false;
  }

  #next(watch: DetectorWatch): Batch | undefined {
    return this.#isActive(watch) && this.#untold.length < MOST_UNTOLD ? this.#queue[watch.cursor - this.#first] : undefined;
  }

  /** Forgets batches that every detector was asked about; those that are off ask about none. */
  #trim(): void {
    const active = this.#watches.filter((watch) => this.#isActive(watch)).map(({ cursor }) => cursor);
    const done = Math.min(this.#first + this.#queue.length, ...active) - this.#first;
    for (const { minutes } of this.#queue.splice(0, done)) this.#waiting -= minutes.length;
    this.#first += done;
    for (const watch of this.#watches) if (!this.#isActive(watch)) watch.cursor = -1;
  }

  /** Forgets what a detector knows, and ends what it fires. */
  #end(watch: DetectorWatch): void {
    this.#tell(watch.end(), watch.detector.name);
    watch.cursor = this.#first + this.#queue.length;
    this.#trim();
  }

  #tell(found: readonly Found[], name: string): void {
    const about = this.#runner.detectors.find((one) => one.name === name)?.description ?? '';
    for (const { tenantId, id, finding } of found)
      this.#untold.push({ tenantId, retentionDays: this.#tenants.get(tenantId)?.retentionDays ?? 0, found: { id, finding, about } });
  }
}

function readBatch(from: ByteReader): Batch {
  const tenantId = from.count(0xffff_ffff);
  const minutes: FinalMinute[] = [];
  for (let left = from.count(0xffff_ffff); left > 0; left--)
    minutes.push({ id: from.text(), minute: from.count(), entries: from.count(), errors: from.count(), isLate: from.count(1) === 1 });
  return { tenantId, minutes };
}

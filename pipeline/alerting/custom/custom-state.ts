import { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { findingValue, readFinding, type StreamFinding } from '../exchange/finding.ts';
import { partialRecord } from '../../processors/merge/partials.ts';
import type { Rates } from '../../processors/rates/rates.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import type { RuleValues } from '../exchange/rule-values.ts';
import { readBatch, writeBatch, type Batch } from './batch.ts';
import type { DetectorRunner } from './detector-runner.ts';
import { DetectorWatch, type Found } from './detector-watch.ts';
import { FinalMinutes } from './final-minutes.ts';
import { mostOf, type Bounds } from '../../processors/base/bounds.ts';
import { RuleSeries } from './rule-series.ts';
import { CUSTOM_DETECTORS, isOff, readOff, type SwitchedOff } from '../settings/switch.ts';
import type { Setting } from '../../core/setting.ts';

/** Streams, and groups of rules, that a partition watches. */
const SERIES: Bounds = { most: 12_000, ofTenant: 10_000, few: 100, last: 20_000 };
/** Minutes of one question, and those that may wait. */
const BATCH = 500;
const MOST_WAITING = 20_000;
/** Findings that wait to be written, beyond which no detector is called. */
const MOST_UNPUBLISHED = 5000;
/** What the states of all detectors may take in a partition: bytes. */
const MOST_STATES = 32 * 1024 * 1024;
const VERSION = 3;
/** Those of releases that wrote the label sets of streams, and that did not watch rules. */
const SECOND_VERSION = 2;
const FIRST_VERSION = 1;
/** How often removed rules are looked for, by append time. Milliseconds. */
const SWEEP_MS = 3_600_000;

/** What was found, and not published. */
type Unpublished = { readonly tenantId: number; readonly retentionDays: number; readonly found: StreamFinding };
type Tenant = { retentionDays: number; readonly minutes: FinalMinutes; readonly rules: RuleSeries };

/** Of a partition of `partials.v1`: what is final and was not looked at, what each detector remembers, and what was not published. */
export class CustomState {
  readonly #runner: DetectorRunner;
  readonly #tenants = new Map<number, Tenant>();
  #streams = 0;
  #sweepAt = 0;
  /** Batches that some detector has not seen, and the number of the first one. */
  #queue: Batch[] = [];
  #first = 0;
  #waiting = 0;
  #isWhole = true;
  #unpublished: Unpublished[] = [];
  readonly #off = new Map<string, SwitchedOff>();
  readonly #watches: DetectorWatch[];

  constructor(runner: DetectorRunner) {
    this.#runner = runner;
    this.#watches = runner.detectors.map(({ name, version }) => new DetectorWatch({ name, version }));
  }

  /** True while so much waits that no more is to be read. */
  get isBehind(): boolean {
    return !this.#isWhole || this.#waiting >= MOST_WAITING;
  }

  /** Series that were passed over by a detector, since they did not fit. */
  get passedOver(): ReadonlyMap<string, number> {
    return new Map(this.#watches.map(({ detector, passedOver }) => [detector.name, passedOver]));
  }

  take({ tenantId, retentionDays, source }: PartialInput, rates: Rates): void {
    const tenant = this.#tenantOf(tenantId, retentionDays);
    const before = tenant.minutes.size;
    tenant.minutes.add(rates, source.partition, source.appendedAt, this.#mostOf(tenant) - tenant.rules.size);
    this.#streams += tenant.minutes.size - before;
    this.#collect(tenantId, tenant);
  }

  /** Takes the values of a rule, for the detector that it names. */
  watch({ tenantId, retentionDays, appendedAt }: PartialInput, values: RuleValues): void {
    const { detector, side, step } = values;
    const watch = this.#watches.find((one) => one.detector.name === detector);
    if (watch === undefined) return;
    const tenant = this.#tenantOf(tenantId, retentionDays);
    const { minutes, rules } = tenant;
    const before = rules.size;
    const { points, removed } = rules.take(values, appendedAt, this.#mostOf(tenant) - minutes.size);
    this.#streams += rules.size - before;
    // of a slot whose rule was changed another detector may know them
    this.#forget(tenantId, removed);
    if (points.length > 0) this.#add({ tenantId, minutes: points, rule: { detector, side, step } });
  }

  /** Time has passed: forgets removed rules, each hour. `appendedAt`: milliseconds. */
  pass(appendedAt: number): void {
    if (appendedAt < this.#sweepAt) return;
    this.#sweepAt = appendedAt + SWEEP_MS;
    for (const [tenantId, { minutes, rules }] of this.#tenants) {
      const removed = rules.forget(appendedAt);
      this.#streams -= removed.length;
      this.#forget(tenantId, removed);
      if (minutes.size === 0 && rules.size === 0) this.#tenants.delete(tenantId);
    }
  }

  /** Switches a detector off, or on again. It starts from the beginning then. */
  configure({ key, value }: Pick<Setting, 'key' | 'value'>): void {
    const off = readOff(value);
    const wasOff = this.#off.has(key);
    if (off === null) this.#off.delete(key);
    else this.#off.set(key, off);
    if (off === null) this.#runner.allow(key);
    const watch = this.#watches.find(({ detector }) => detector.name === key);
    if (watch === undefined) return;
    // settings come again with each snapshot
    const isNews = off === null ? wasOff || watch.hasFailed : isOff(off, watch.detector.version);
    if (!isNews) return;
    watch.hasFailed = false;
    this.#end(watch);
  }

  /** Starts calls of detectors, and returns what was found since the last call. */
  news(): readonly AbsoluteRecord[] {
    const unpublished = this.#unpublished;
    this.#unpublished = [];
    // where all are off, nothing else trims it
    this.#trim();
    if (!this.#isWhole) {
      this.#isWhole = true;
      for (const [tenantId, tenant] of this.#tenants) this.#collect(tenantId, tenant);
    }
    for (const watch of this.#watches) if (!watch.isPending) void this.#query(watch);
    return unpublished.map(({ tenantId, retentionDays, found }) =>
      partialRecord(CUSTOM_DETECTORS, null, { tenantId, retentionDays, value: findingValue(found) }),
    );
  }

  write(): Buffer {
    const to = new ByteWriter();
    to.count(VERSION);
    to.count(this.#tenants.size);
    for (const [tenantId, { retentionDays, minutes, rules }] of this.#tenants) {
      for (const number of [tenantId, retentionDays]) to.count(number);
      minutes.write(to);
      rules.write(to);
    }
    to.count(this.#first);
    to.count(this.#queue.length);
    for (const batch of this.#queue) writeBatch(to, batch);
    to.count(this.#watches.length);
    for (const watch of this.#watches) watch.write(to);
    to.count(this.#unpublished.length);
    for (const { tenantId, retentionDays, found } of this.#unpublished) {
      for (const number of [tenantId, retentionDays]) to.count(number);
      to.text(findingValue(found).toString('latin1'));
    }
    return to.finish();
  }

  /** What `write` wrote; throws where it is anything else. What removed or changed detectors still fire ends. */
  static read(bytes: Buffer, runner: DetectorRunner): CustomState | null {
    const from = new ByteReader(bytes);
    const version = from.count();
    if (version > VERSION || version < FIRST_VERSION) return null;
    const hasRules = version >= SECOND_VERSION;
    const read = new CustomState(runner);
    for (let left = from.count(0xffff_ffff); left > 0; left--) {
      const [tenantId, retentionDays] = [from.count(0xffff_ffff), from.count(65_535)];
      const minutes = FinalMinutes.read(from, version === VERSION);
      const rules = hasRules ? RuleSeries.read(from) : new RuleSeries();
      read.#tenants.set(tenantId, { retentionDays, minutes, rules });
      read.#streams += minutes.size + rules.size;
    }
    read.#first = from.count();
    for (let left = from.count(0xffff_ffff); left > 0; left--) read.#add(readBatch(from, hasRules));
    read.#isWhole = false;
    // those that are new take what waits
    for (const watch of read.#watches) watch.cursor = read.#first;
    for (let left = from.count(1000); left > 0; left--) read.#restore(DetectorWatch.read(from, hasRules));
    for (let left = from.count(0xffff_ffff); left > 0; left--) {
      const [tenantId, retentionDays] = [from.count(0xffff_ffff), from.count(65_535)];
      const found = readFinding(Buffer.from(from.text(), 'latin1'));
      if (found === null) return null;
      read.#unpublished.push({ tenantId, retentionDays, found });
    }
    return from.isAtEnd ? read : null;
  }

  #restore(watch: DetectorWatch): void {
    const at = this.#watches.findIndex(
      ({ detector: { name, version } }) => name === watch.detector.name && version === watch.detector.version,
    );
    // its minutes are not there any more where it had failed
    if (at < 0 || watch.cursor < this.#first) this.#keep(watch.end(), watch.detector.name);
    else this.#watches[at] = watch;
  }

  /** Takes what is final of a tenant, as far as it fits. */
  #collect(tenantId: number, { minutes: all, rules }: Tenant): void {
    while (this.#waiting < MOST_WAITING && this.#unpublished.length < MOST_UNPUBLISHED) {
      const { minutes, removed, isWhole } = all.take(BATCH);
      this.#streams -= removed.length;
      this.#forget(tenantId, removed);
      if (minutes.length > 0) this.#add({ tenantId, minutes, rule: null });
      if (isWhole) {
        if (all.size === 0 && rules.size === 0) this.#tenants.delete(tenantId);
        return;
      }
    }
    this.#isWhole = false;
  }

  #tenantOf(tenantId: number, retentionDays: number): Tenant {
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined)
      this.#tenants.set(tenantId, (tenant = { retentionDays, minutes: new FinalMinutes(), rules: new RuleSeries() }));
    tenant.retentionDays = retentionDays;
    return tenant;
  }

  /** Series that a tenant may have, of streams and of groups together. */
  #mostOf({ minutes, rules }: Tenant): number {
    return mostOf(minutes.size + rules.size, this.#streams, SERIES);
  }

  #forget(tenantId: number, ids: readonly string[]): void {
    for (const id of ids) for (const watch of this.#watches) watch.forget(tenantId, id);
  }

  #add(batch: Batch): void {
    this.#queue.push(batch);
    this.#waiting += batch.minutes.length;
  }

  #isActive({ detector: { name, version }, hasFailed }: DetectorWatch): boolean {
    return !hasFailed && !isOff(this.#off.get(name), version);
  }

  async #query(watch: DetectorWatch): Promise<void> {
    watch.isPending = true;
    const { name } = watch.detector;
    for (let batch = this.#next(watch); batch !== undefined; batch = this.#next(watch)) {
      const { tenantId, minutes, rule } = batch;
      const { cursor } = watch;
      if (rule !== null && rule.detector !== name) {
        watch.cursor += 1;
        this.#trim();
        continue;
      }
      const question = watch.question(tenantId, minutes, MOST_STATES / this.#watches.length);
      const looked = question.requested.length === 0 ? [] : await this.#runner.look(name, question.requested);
      // it was switched off in the meantime, or on again
      if (watch.cursor !== cursor || !this.#isActive(watch)) continue;
      if (looked === null) watch.hasFailed = true;
      else {
        const known = this.#tenants.get(tenantId)?.[rule === null ? 'minutes' : 'rules'];
        this.#keep(
          watch.answer(tenantId, question, looked, (id) => known?.has(id) === true, rule),
          name,
        );
        watch.cursor += 1;
      }
      this.#trim();
    }
    watch.isPending = false;
  }

  #next(watch: DetectorWatch): Batch | undefined {
    return this.#isActive(watch) && this.#unpublished.length < MOST_UNPUBLISHED ? this.#queue[watch.cursor - this.#first] : undefined;
  }

  /** Forgets batches that every detector has seen; those that are off need none. */
  #trim(): void {
    const active = this.#watches.filter((watch) => this.#isActive(watch)).map(({ cursor }) => cursor);
    const done = Math.min(this.#first + this.#queue.length, ...active) - this.#first;
    for (const { minutes } of this.#queue.splice(0, done)) this.#waiting -= minutes.length;
    this.#first += done;
    for (const watch of this.#watches) if (!this.#isActive(watch)) watch.cursor = -1;
  }

  /** Forgets what a detector knows, and ends what it fires. */
  #end(watch: DetectorWatch): void {
    this.#keep(watch.end(), watch.detector.name);
    watch.cursor = this.#first + this.#queue.length;
    this.#trim();
  }

  #keep(found: readonly Found[], name: string): void {
    const about = this.#runner.detectors.find((one) => one.name === name)?.description ?? '';
    for (const { tenantId, id, finding } of found)
      this.#unpublished.push({ tenantId, retentionDays: this.#tenants.get(tenantId)?.retentionDays ?? 0, found: { id, finding, about } });
  }
}

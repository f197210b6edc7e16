import { durationBin } from '../../core/duration-bins.ts';
import { mixId } from '../../core/mix.ts';
import { REACH, STEP_MS } from '../../core/span-steps.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { OF_EDGE, OF_MISSED } from '../../counters/span-counts.ts';
import type { SpanView } from '../../traces/span-view.ts';
import { mostOf, type Bounds } from '../base/bounds.ts';
import { Cells, detailOf, kindOf } from './cells.ts';
import { infoOf, isErrorInfo, kindOfInfo, OpenStep, secondOfInfo, type Owner } from './open-step.ts';
import { ERROR, secondOf } from './record-cells.ts';
import type { SpanBatch } from './span-input.ts';

const KIB = 1024;
/** Bytes that a partition holds of open spans. What is beyond is not looked at, and counted as that. */
export const OPEN: Bounds = { most: 12_288 * KIB, ofTenant: 10_240 * KIB, few: 64 * KIB, last: 16_384 * KIB };
/** What a span takes, and a service beside its bytes. */
const SPAN_BYTES = 56;
const WORD_BYTES = 64;
const SERVER = 2;
const MINUTE = 60;
const HALF = 4_294_967_296;

/**
 * The spans of a partition that may yet be one side of a call, and what is found of them: `edges` when no more can come of a span, `missed` at
 * once. What is found is a function of the records and their append times: of the same spans the same calls, in whichever order they came.
 */
export class OpenSpans {
  #steps: OpenStep[] = [];
  /** The step that is now, which only grows, and the one that the append time says, which may be set back. */
  #now = 0;
  #clock = 0;

  /** How many spans it holds. */
  get size(): number {
    return this.#steps.reduce((sum, { count }) => sum + count, 0);
  }

  /** Time passes: adds the edges of the spans for which no parent can come any more. */
  pass(appendedAt: number, found: Cells): void {
    const clock = Math.floor(appendedAt / STEP_MS);
    // a broker's clock may be set back: that is no way back in the log
    const passed = clock >= this.#clock ? clock - this.#clock : this.#clock - clock > REACH ? REACH + 1 : 0;
    if (passed === 0) return;
    this.#clock = clock;
    const before = this.#now;
    this.#now += passed;
    for (const step of this.#steps) if (step.number >= before - REACH && step.number < this.#now - REACH) this.#decide(step, found);
    this.#steps = this.#steps.filter(({ number }) => number >= this.#now - 2 * REACH);
  }

  /**
   * Takes the spans of a record; adds to `found` how many of them it does not look at. Gives the rows that are copies of a span that it holds, in
   * their order: of one that came in the four steps before, or in this one.
   */
  add(batch: SpanBatch, found: Cells): readonly number[] {
    const { spans, tenantId, retentionDays, appendedAt } = batch;
    if (spans === null) return [];
    const step = this.#step();
    const copies: number[] = [];
    const [own, all] = this.#held(tenantId);
    let room = mostOf(own, all, OPEN) - own;
    const before = room;
    const owner = step.addOwner({ tenantId, retentionDays });
    // by the codes of the record; -1 where it was not looked at
    const services = new Int32Array(spans.service.keys.count).fill(-1);
    let missed = 0;
    for (let row = 0; row < spans.count; row++) {
      const code = spans.service.codes[row] as number;
      if (services[code] === -1) {
        const text = wordOf(spans, code);
        const size = step.services.find(text) < 0 ? WORD_BYTES + text.length : 0;
        if (size <= room) {
          room -= size;
          services[code] = step.services.at(text);
        }
      }
      const service = services[code] as number;
      readKeys(spans, row, tenantId);
      const kind = spans.bytes[spans.kind + row] as number;
      if (this.#holds(kind)) {
        copies.push(row);
        // one of an earlier step is held again, as a parent and since a copy of it may come, too
        if (step.has(key.high, key.low, kind)) continue;
      }
      if (service < 0 || room < SPAN_BYTES) missed += 1;
      else {
        room -= SPAN_BYTES;
        addOpen(step, spans, row, service, owner);
      }
    }
    step.charge(tenantId, before - room);
    if (missed > 0) addMissed(found, { tenantId, retentionDays }, missed, Math.floor(appendedAt / 1000));
    return copies;
  }

  write(to: ByteWriter): void {
    for (const number of [this.#now, this.#clock, this.#steps.length]) to.count(number);
    for (const step of this.#steps) step.write(to);
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): OpenSpans {
    const open = new OpenSpans();
    [open.#now, open.#clock] = [from.count(), from.count()];
    for (let left = from.count(2 * REACH + 1); left > 0; left--) open.#steps.push(OpenStep.read(from));
    return open;
  }

  /** Whether a span of `key` and this kind came in some step that is held. */
  #holds(kind: number): boolean {
    const hash = mixId(key.high, key.low);
    for (const step of this.#steps) if (step.has(key.high, key.low, kind, hash)) return true;
    return false;
  }

  #step(): OpenStep {
    const last = this.#steps.at(-1);
    if (last?.number === this.#now) return last;
    const step = new OpenStep(this.#now);
    this.#steps.push(step);
    return step;
  }

  /** What a tenant holds, and all of them. */
  #held(tenantId: number): readonly [own: number, all: number] {
    let [own, all] = [0, 0];
    for (const { held, heldByAll } of this.#steps) [own, all] = [own + (held.get(tenantId) ?? 0), all + heldByAll];
    return [own, all];
  }

  #decide(step: OpenStep, found: Cells): void {
    const near = this.#steps.filter(({ number }) => Math.abs(number - step.number) <= REACH);
    const before = near.filter(({ number }) => number < step.number);
    const { high, low, parentHigh, parentLow, info } = step.columns;
    for (let span = 0; span < step.count; span++) {
      if (parentHigh[span] === 0 && parentLow[span] === 0) continue;
      const kind = kindOfInfo(info[span] as number);
      // it was counted where it came first
      if (before.some((one) => one.has(high[span] as number, low[span] as number, kind))) continue;
      const callee = serviceOf(step, span);
      const caller = callerOf(near, parentHigh[span] as number, parentLow[span] as number, callee);
      if (caller !== null) addEdge(found, step, span, caller, callee);
    }
  }
}

/** The service that has a span; empty where none is known, null where it is `callee` itself. A client and its server may share an id: then the server calls. */
function callerOf(near: readonly OpenStep[], high: number, low: number, callee: string): string | null {
  let [caller, isServer]: [string | null, boolean] = [null, false];
  for (const step of near)
    for (let span = step.first(high, low); span >= 0; span = step.after(span)) {
      const service = serviceOf(step, span);
      if (service === callee) return null;
      const isOfServer = kindOfInfo(step.columns.info[span] as number) === SERVER;
      if (caller !== null && (isServer || !isOfServer)) continue;
      [caller, isServer] = [service, isOfServer];
    }
  return caller ?? '';
}

const serviceOf = ({ services, columns }: OpenStep, span: number): string => services.texts[columns.service[span] as number] as string;

function addEdge(found: Cells, step: OpenStep, span: number, caller: string, callee: string): void {
  const { columns, owners } = step;
  const { tenantId, retentionDays } = owners[columns.owner[span] as number] as Owner;
  const [durationHigh, durationLow, info] = [
    columns.durationHigh[span] as number,
    columns.durationLow[span] as number,
    columns.info[span] as number,
  ];
  const minute = (columns.minute[span] as number) | 0;
  const cell = found.table.at(
    tenantId,
    kindOf(retentionDays, OF_EDGE),
    found.services.at(callee),
    found.others.at(caller),
    minute,
    detailOf(0, durationBin(durationHigh, durationLow), isErrorInfo(info)),
  );
  found.add(cell, 1, durationHigh * HALF + durationLow, minute * MINUTE + secondOfInfo(info));
}

function addMissed(found: Cells, { tenantId, retentionDays }: Owner, spans: number, second: number): void {
  const [service, other] = [found.services.at(''), found.others.at('')];
  const cell = found.table.at(
    tenantId,
    kindOf(retentionDays, OF_MISSED),
    service,
    other,
    Math.floor(second / MINUTE),
    detailOf(0, 0, false),
  );
  found.add(cell, spans, 0, second);
}

/** The key of a span, and that of its parent: 64 bits of a hash that is the same in every process; zeros for no parent. */
const key = { high: 0, low: 0, parentHigh: 0, parentLow: 0 };

function readKeys({ data, traceId, spanId, parentSpanId }: SpanView, row: number, tenantId: number): void {
  let [one, other] = [tenantId, tenantId ^ 0x3c6ef372];
  for (let at = traceId + 16 * row, end = at + 16; at < end; at += 4) {
    const word = data.getInt32(at, true);
    one = Math.imul(rotate(one ^ Math.imul(word, 0xcc9e2d51), 15), 5) + 0xe6546b64;
    other = Math.imul(rotate(other ^ Math.imul(word, 0x1b873593), 13), 9) + 0x38495ab5;
  }
  const [low, high] = [data.getInt32(spanId + 8 * row, true), data.getInt32(spanId + 8 * row + 4, true)];
  key.high = mixed(one ^ mixed(low ^ Math.imul(high, 0x85ebca6b)));
  key.low = mixed(other ^ mixed(high ^ Math.imul(low, 0xc2b2ae35)));
  const [parentLow, parentHigh] = [data.getInt32(parentSpanId + 8 * row, true), data.getInt32(parentSpanId + 8 * row + 4, true)];
  const hasParent = parentLow !== 0 || parentHigh !== 0;
  key.parentHigh = hasParent ? mixed(one ^ mixed(parentLow ^ Math.imul(parentHigh, 0x85ebca6b))) : 0;
  key.parentLow = hasParent ? mixed(other ^ mixed(parentHigh ^ Math.imul(parentLow, 0xc2b2ae35))) : 0;
}

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

function mixed(word: number): number {
  let hashed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  hashed = Math.imul(hashed ^ (hashed >>> 13), 0xc2b2ae35);
  return (hashed ^ (hashed >>> 16)) >>> 0;
}

const wordOf = ({ bytes, service: { keys } }: SpanView, code: number): string =>
  bytes.toString('latin1', keys.starts[code], keys.ends[code]);

function addOpen(
  step: OpenStep,
  { data, bytes, time, duration, kind, status }: SpanView,
  row: number,
  service: number,
  owner: number,
): void {
  const span = step.open();
  const { columns } = step;
  const second = secondOf(data.getInt32(time + 8 * row + 4, true), data.getUint32(time + 8 * row, true));
  const minute = Math.floor(second / MINUTE);
  columns.high[span] = key.high;
  columns.low[span] = key.low;
  columns.parentHigh[span] = key.parentHigh;
  columns.parentLow[span] = key.parentLow;
  columns.durationHigh[span] = data.getUint32(duration + 8 * row + 4, true);
  columns.durationLow[span] = data.getUint32(duration + 8 * row, true);
  columns.minute[span] = minute;
  columns.service[span] = service;
  columns.owner[span] = owner;
  columns.info[span] = infoOf(second - minute * MINUTE, bytes[kind + row] as number, bytes[status + row] === ERROR);
  step.close();
}

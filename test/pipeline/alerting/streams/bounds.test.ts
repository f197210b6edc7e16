import { expect } from 'chai';
import type { AlertCommand } from '../../../../pipeline/alerting/book/command.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import { MAX_STATE_BYTES } from '../../../../pipeline/bus/state/state-log.ts';
import { findingValue } from '../../../../pipeline/alerting/exchange/finding.ts';
import { CUSTOM_DETECTORS } from '../../../../pipeline/alerting/settings/switch.ts';
import type { Finding } from '../../../../pipeline/detectors/detector.ts';
import { alerting, type Watches } from '../../../../pipeline/alerting/streams/alerting.ts';
import { Sensitivities } from '../../../../pipeline/alerting/settings/sensitivity.ts';
import type { PartialInput } from '../../../../pipeline/processors/base/partial.ts';
import { encodeRates } from '../../../../pipeline/processors/rates/rates.ts';
import { commandsOf } from '../../../fakes/test-book.ts';
import { cpuMs } from '../../../cpu-time.ts';
import { START } from './alerting-world.ts';

const MINUTE = Math.floor(START / 60_000);
let offset = 0;
const at = (): { partition: number; offset: number; appendedAt: number } => ({ partition: 0, offset: offset++, appendedAt: START });
const idOf = (tenantId: number, index: number): string =>
  Buffer.from((tenantId * 100_000 + index).toString(16).padStart(16, '0'), 'hex').toString('latin1');

/** What `rates` tells of so many streams of a tenant, each in a service of two. */
function told(tenantId: number, streams: number, host = 'h'): PartialInput {
  const all = Array.from({ length: streams }, (_none, index) => ({
    id: idOf(tenantId, index),
    stream: `{host="${host}${String(index)}",service="s${String(index >> 1)}"}`,
    minutes: [{ minute: MINUTE, bySeverity: [0, 0, 0, 1, 0, 0, 0] }],
  }));
  const source = { ...at(), number: 0 };
  return { ...at(), kind: 'partial', tenantId, retentionDays: 30, processor: 'rates', source, value: encodeRates(all) };
}

const finding: Finding = { detector: 'own', side: 'up', state: 'firing', firedAt: MINUTE, updatedAt: MINUTE, fireCount: 1, z: 9, value: 9, mean: 1, expected: { low: 0, high: 2 }, window: { start: MINUTE, end: MINUTE }, scale: 1 }; // prettier-ignore

/** How many alerts are told where a detector of one's own finds something of each stream. */
const heard = (state: Watches, tenantId: number, streams: number): number =>
  Array.from({ length: streams }, (_none, index) => {
    const [place, value] = [at(), findingValue({ id: idOf(tenantId, index), finding, about: 'x' })];
    const whose = { tenantId, retentionDays: 30, processor: CUSTOM_DETECTORS, source: { ...place, number: 0 } };
    return commandsOf(alerting.fold(state, { ...place, kind: 'partial', ...whose, value }) as AbsoluteRecord[]).length;
  }).reduce((sum, rows) => sum + rows, 0);

const [ONE, MANY] = [1, 20].map((entries) => [0, 0, 0, entries, 0, 0, 0]) as [number[], number[]];
const streamOf = (index: number): { id: string; stream: string } => ({
  id: idOf(1, index),
  stream: `{host="h${String(index)}",service="s"}`,
});

/** What `rates` tells of tenant 1 in a minute behind START. */
function fold(state: Watches, minute: number, streams: Parameters<typeof encodeRates>[0]): readonly AlertCommand[] {
  const place = { partition: 0, offset: offset++, appendedAt: START + minute * 60_000 };
  const value = encodeRates(streams);
  const input = {
    ...place,
    kind: 'partial',
    tenantId: 1,
    retentionDays: 30,
    processor: 'rates',
    source: { ...place, number: 0 },
    value,
  } as const;
  return commandsOf(alerting.fold(state, input) as AbsoluteRecord[]);
}

const sizeOf = (state: Watches, tenantId: number): number => state.tenants.get(tenantId)?.size ?? 0;

describe('the bounds of alerting', function () {
  this.timeout(120_000);

  it('are those of a tenant, then few of each, then none', () => {
    const state = alerting.init();
    for (const [index, streams] of [11_000, 3000, 90, 300].entries()) alerting.fold(state, told(index + 1, streams));
    // 10,000 streams of a tenant and some services; of others as many as there is room for; of each further one some 100
    expect(sizeOf(state, 1)).to.be.within(10_000, 11_000);
    expect(sizeOf(state, 2)).to.be.within(300, 1000);
    expect([sizeOf(state, 3), sizeOf(state, 4)].map((size) => size > 80 && size < 120)).to.deep.equal([true, true]);
    for (let tenantId = 5; tenantId < 30; tenantId++) alerting.fold(state, told(tenantId, 200));
    expect(sizeOf(state, 29)).to.equal(0);
    const before = sizeOf(state, 4);
    // those that are known are watched as before
    alerting.fold(state, told(4, 300));
    expect(sizeOf(state, 4)).to.equal(before);
    expect(alerting.restore(Buffer.from(alerting.snapshot(state)))?.held).to.deep.equal(state.held);
  });

  for (const [what, host] of [
    ['a label of 4 KB', 'x'.repeat(4000)],
    ['a label of quotes', '\\"'.repeat(2000)],
    ['a label of wide characters', '\u4e2d'.repeat(1300)],
  ] as const)
    it(`hold for streams with ${what} that all fire, and leave room for others`, () => {
      const state = alerting.init();
      const found = [1, 2, 3].map((tenantId) => {
        alerting.fold(state, told(tenantId, 7000, host));
        return heard(state, tenantId, 7000);
      });
      alerting.fold(state, told(4, 40));
      expect(heard(state, 4, 40)).to.equal(40);
      expect(sizeOf(state, 1)).to.be.above(3000);
      expect(found[0]).to.be.within(20, 1000);
      const bytes = Buffer.from(alerting.snapshot(state));
      const { watched, patterns, alerts } = state.held;
      expect(bytes.length)
        .to.be.below(0.97 * MAX_STATE_BYTES)
        .and.below(1.02 * (watched + patterns + alerts));
      expect(alerting.restore(bytes)?.held).to.deep.equal(state.held);
    });

  it('hold for the time that a partial takes whose streams had an entry now and then for two weeks', () => {
    const state = alerting.init();
    const minutes = Array.from({ length: 30 }, (_none, index) => ({ minute: MINUTE - 720 * (29 - index), bySeverity: ONE }));
    const before = cpuMs();
    fold(
      state,
      0,
      Array.from({ length: 350 }, (_none, index) => ({ ...streamOf(index), minutes })),
    );
    fold(state, 1, []);
    // each entry is 720 minutes behind the one before: all of them together are 15 million minutes, which take a minute
    expect(cpuMs() - before).to.be.below(8000);
    expect(sizeOf(state, 1)).to.equal(351);
  });

  it('hold for the time that it takes where all streams of a service fall silent', () => {
    const state = alerting.init();
    const all = Array.from({ length: 2500 }, (_none, index) => index);
    for (let minute = 0; minute < 240; minute += 10) {
      const minutes = Array.from({ length: 10 }, (_none, index) => ({ minute: MINUTE + minute - 10 + index, bySeverity: MANY }));
      fold(
        state,
        minute,
        all.map((index) => ({ ...streamOf(index), minutes })),
      );
    }
    const before = cpuMs();
    let told = 0;
    for (let minute = 240; minute < 248; minute++) told += fold(state, minute, []).length;
    expect(cpuMs() - before).to.be.below(6000);
    expect(told).to.be.above(0);
  });

  it('hold for the time that rules of sensitivity take of many streams', () => {
    const rules = Array.from({ length: 50 }, (_none, index) => ({ stream: `{service="s${String(index)}"}`, sensitivity: 'low' as const }));
    const set = new Sensitivities(rules);
    const before = cpuMs();
    const found = Array.from({ length: 4000 }, (_none, index) =>
      ['log_rate', 'error_rate', 'silence'].map((detector) =>
        set.of(detector, `{host="${'\\"'.repeat(1900)}",service="s${String(index)}"}`),
      ),
    );
    // each rule would read each label set anew
    expect(cpuMs() - before).to.be.below(3000);
    expect(found.flat().filter((sensitivity) => sensitivity === 'low').length).to.equal(150);
    expect(new Sensitivities([{ stream: '{service!="a"}', sensitivity: 'off' }]).of('log_rate', 'no label set')).to.equal(null);
    expect(new Sensitivities([{ sensitivity: 'off' }]).of('log_rate', '')).to.equal('off');
  });
});

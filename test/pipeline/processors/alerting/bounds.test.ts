import { expect } from 'chai';
import { alerting } from '../../../../pipeline/processors/alerting/alerts-merger.ts';
import type { PartialInput } from '../../../../pipeline/processors/merge/partial.ts';
import { encodeRates } from '../../../../pipeline/processors/rates/rates-partial.ts';
import { START } from './stages.ts';

const MINUTE = Math.floor(START / 60_000);
let offset = 0;

/** What `rates` tells of so many streams of a tenant, each in a service of two. */
function told(tenantId: number, streams: number): PartialInput {
  const all = Array.from({ length: streams }, (_none, index) => ({
    id: Buffer.from((tenantId * 100_000 + index).toString(16).padStart(16, '0'), 'hex').toString('latin1'),
    stream: `{host="h${String(index)}",service="s${String(index >> 1)}"}`,
    minutes: [{ minute: MINUTE, bySeverity: [0, 0, 0, 1, 0, 0, 0] }],
  }));
  const source = { partition: 0, offset: offset++, number: 0, appendedAt: START };
  return { kind: 'partial', partition: 0, offset: source.offset, appendedAt: START, tenantId, retentionDays: 30, processor: 'rates', source, value: encodeRates(all) }; // prettier-ignore
}

describe('the bounds of alerting', () => {
  it('are those of a tenant, then few of each, then none: no number of tenants makes a state that cannot be saved', () => {
    const state = alerting.init();
    const sizes = [11_000, 3000, 90, 300].map((streams, index) => {
      alerting.fold(state, told(index + 1, streams));
      return state.streams;
    });
    // 10,000 of a tenant; up to 12,000 of all; of each further one 100
    expect(sizes).to.deep.equal([10_000, 12_000, 12_100, 12_200]);
    for (let tenantId = 5; tenantId < 30; tenantId++) alerting.fold(state, told(tenantId, 200));
    expect(state.streams).to.equal(13_000);
    // those that are known are watched as before
    alerting.fold(state, told(4, 300));
    expect([state.streams, state.tenants.get(4)?.size]).to.deep.equal([13_000, 100]);
  });
});

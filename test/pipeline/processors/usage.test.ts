import { expect } from 'chai';
import fc from 'fast-check';
import { UsageView } from '../../../api/limits/usage-view.ts';
import { parseUsageRecord } from '../../../pipeline/bus/state/usage-records.ts';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import { usageOf, type UsageState } from '../../../pipeline/processors/usage.ts';
import { billed } from './inputs.ts';

const DAY = 86_400_000;
const fold = (state: UsageState, offset: number, tenantId: number, bytes: number, day = 20_000): void =>
  void usage.fold(state, billed(tenantId, bytes, day * DAY + 5)(0, offset));
const told = (records: readonly AbsoluteRecord[] = []) => records.map(({ key, value }) => ({ key: key ?? '', value: value.toString() }));

const usage = usageOf('logs.v1', 'usage');

describe('usage processor', () => {
  it('sums the bytes of a tenant by the day of the append time', () => {
    const state = usage.init();
    for (const [offset, tenantId, bytes, day] of [[0, 1, 10], [1, 2, 5], [3, 1, 7], [5, 1, 100, 20_001]] as const) fold(state, offset, tenantId, bytes, day); // prettier-ignore
    usage.fold(state, { kind: 'tick', partition: 0, offset: 6, appendedAt: 20_005 * DAY });
    expect(state.days).to.deep.equal(new Map([[20_000, new Map([[1, 17], [2, 5]])], [20_001, new Map([[1, 100]])]])); // prettier-ignore
  });

  it('keeps the three days that were appended to last, and no clock of a broker empties it', () => {
    const state = usage.init();
    for (const [offset, day] of [1, 2, 3, 4, 90_000, 4, 5].entries()) fold(state, offset, 1, 1, day);
    expect([...state.days.keys()]).to.deep.equal([90_000, 4, 5]);
    expect(state.days.get(4)).to.deep.equal(new Map([[1, 2]]));
  });

  it('tells all at first, then what has changed, and all again before the first delta of before is overwritten', () => {
    const state = usage.init();
    const keys: string[] = [];
    for (let offset = 0; offset < 200; offset++) {
      fold(state, offset, 1 + (offset % 3), 1);
      const [record, ...more] = told(usage.news?.(state, 4, offset + 1));
      expect(more).to.deep.equal([]);
      keys.push(record?.key ?? '');
      expect(parseUsageRecord(record?.key ?? '', record?.value ?? '')?.kind).to.equal(
        record?.key.startsWith('delta') === true ? 'delta' : 'partition',
      );
    }
    expect(keys.filter((key) => key === 'partition:logs.v1:4')).to.have.length(4);
    expect(usage.news?.(state, 4, 200), 'nothing new').to.deep.equal([]);
    const last = keys.lastIndexOf('partition:logs.v1:4');
    expect(new Set(keys.slice(last - 60)).size, 'none of the deltas since the snapshot before has the key of another').to.equal(
      keys.slice(last - 60).length - 1,
    );
  });

  /** As the version wrote it that knew one topic. */
  const old = ({ key, value }: { readonly key: string; readonly value: string }): { readonly key: string; readonly value: string } => {
    const { v: _, ...rest } = JSON.parse(value) as Record<string, unknown>;
    return { key: key.replace('logs.v1:', ''), value: JSON.stringify(rest) };
  };

  it('a view that reads what is left on the topic knows the sums, whoever told it, in the version before or in this one', () => {
    const entry = fc.record({
      tenantId: fc.integer({ min: 1, max: 5 }),
      bytes: fc.integer({ min: 1, max: 9 }),
      tells: fc.boolean(),
      restarts: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 300 }), fc.nat(300), (entries, upgradedAt) => {
        // compacted as far as it may be: the last record of each key
        const topic = new Map<string, string>();
        const live = new UsageView('self', () => 0);
        const sums = new Map<number, number>();
        let state = usage.init();
        const tell = (next: number): void => {
          for (const written of told(usage.news?.(state, 0, next))) {
            const record = next <= upgradedAt ? old(written) : written;
            topic.delete(record.key);
            topic.set(record.key, record.value);
            live.fold(record, true, 0);
          }
        };
        for (const [offset, { tenantId, bytes, tells, restarts }] of entries.entries()) {
          fold(state, offset, tenantId, bytes);
          sums.set(tenantId, (sums.get(tenantId) ?? 0) + bytes);
          if (tells) tell(offset + 1);
          if (restarts === 0 || offset === upgradedAt) state = usage.restore(usage.snapshot(state)) ?? usage.init();
        }
        tell(entries.length);
        const late = new UsageView('other', () => 0);
        for (const [key, value] of topic) late.fold({ key, value }, false, 0);
        for (const view of [live, late]) for (const [tenantId, bytes] of sums) expect(view.bytesOf(tenantId, 20_000)).to.equal(bytes);
      }),
    );
  });

  it('restores no bytes that are no snapshot', () => {
    for (const text of ['', '{', '{"next":1}', '[]']) expect(usage.restore(Buffer.from(text))).to.equal(null);
  });
});

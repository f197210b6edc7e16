import { expect } from 'chai';
import { shownAlert, within } from '../../../api/previews/answer.ts';
import { minutesBefore } from '../../../api/previews/history.ts';
import type { ReplayedAlert } from '../../../pipeline/detectors/replayed.ts';

const NS = 60_000_000_000n;
const alert = (firedAt: number, resolvedAt: number | null): ReplayedAlert => ({ detector: 'x', side: 'up', firedAt, resolvedAt, fireCount: 2, z: 5, value: 1 / 3, expected: { low: 0, high: 1 } }); // prettier-ignore

describe('the history of a preview', () => {
  it('has whole windows up to now, and nothing that is not kept any more', () => {
    expect(minutesBefore(1003n * NS + 5n, 100, 5, 0)).to.deep.equal({ from: 900, to: 1000 });
    expect(minutesBefore(3000n * NS, 2880, 15, 1)).to.deep.equal({ from: 1560, to: 3000 });
    expect(minutesBefore(3n * NS, 100, 5, 0)).to.deep.equal({ from: 0, to: 0 });
  });
  it('tells of alerts that fire in what is shown, also where they began before', () => {
    const all = [alert(10, 20), alert(10, 60), alert(20, null), alert(70, 80)];
    expect(within(all, 50)).to.deep.equal(all.slice(1));
    expect(shownAlert(alert(1, null))).to.deep.equal({
      ...{ fired_at: '1970-01-01T00:01:00.000Z', resolved_at: null, side: 'up', value: 0.333333 },
      ...{ expected: { low: 0, high: 1 }, fire_count: 2 },
    });
  });
});

import { expect } from 'chai';
import type { Finding } from '../../../../pipeline/detectors/detector.ts';
import { AlertBook } from '../../../../pipeline/alerting/streams/alert-book.ts';

const NOW = 1_800_000_000;
const subject = { tenantId: 1, retentionDays: 14, stream: '{service="web"}', service: 'web', recent: [1, 2, 3] };

const finding = (state: Finding['state'], fireCount: number): Finding => ({
  ...{ detector: 'log_rate', side: 'up', state, firedAt: 30_000_000, updatedAt: 30_000_000 + fireCount, fireCount },
  ...{ z: 12, value: 200, mean: 20, expected: { low: 10, high: 40 }, window: { start: 30_000_000, end: 30_000_000 }, scale: 1 },
});

describe('the alerts of a tenant', () => {
  it('say since when they fire this time, also after they were written down', () => {
    let book = new AlertBook();
    const opened: unknown[] = [];
    const steps: [Finding['state'], number, number][] = [
      ['firing', 1, 0],
      ['firing', 2, 10],
      ['resolved', 2, 600],
      ['firing', 3, 900],
      ['firing', 4, 910],
    ];
    for (const [state, count, seconds] of steps) {
      book = AlertBook.from(JSON.parse(JSON.stringify(book)));
      const alert = book.take(finding(state, count), subject, NOW + seconds);
      opened.push((JSON.parse(alert?.evidence ?? '{}') as Record<string, unknown>)['opened_at']);
    }
    const at = (seconds: number): string => new Date((NOW + seconds) * 1000).toISOString().replace('.000Z', 'Z');
    expect(opened).to.deep.equal([at(0), at(0), at(0), at(900), at(900)]);
  });

  it('that were written down without it do not say so', () => {
    const book = new AlertBook();
    book.take(finding('firing', 1), subject, NOW);
    const { told, ...rest } = JSON.parse(JSON.stringify(book)) as { told: { openedAt?: number }[] };
    for (const one of told) delete one.openedAt;
    const alert = AlertBook.from({ told, ...rest }).take(finding('firing', 2), subject, NOW + 10);
    expect(JSON.parse(alert?.evidence ?? '')).not.to.have.property('opened_at');
  });
});

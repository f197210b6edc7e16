import { expect } from 'chai';
import type { Alert } from '../../../../pipeline/alerting/book/alert.ts';
import { AlertBook } from '../../../../pipeline/alerting/book/alert-book.ts';
import type { AlertCommand, Fires } from '../../../../pipeline/alerting/book/command.ts';

const NOW = 1_800_000_000;
const [ID, AGAIN] = [77, 88];
const words = { detector: 'log_rate', stream: '{service="web"}', service: 'web', severity: 'warning', title: 't', description: 'd', evidence: '{"z_score":9}' } as const; // prettier-ignore
const teller = { reporter: 'alerting', tenantId: 1, retentionDays: 14, mayTake: () => true };
const fires = (kind: Fires['kind'], fireCount: number, seconds: number, more: Partial<Fires> = {}): Fires => ({ kind, id: ID, at: NOW + seconds, ...words, fireCount, ...more }); // prettier-ignore
const back = (seconds: number, note = 'auto: back within baseline'): AlertCommand => ({ kind: 'back', id: ID, at: NOW + seconds, note });
const at = (seconds: number): string => new Date((NOW + seconds) * 1000).toISOString().replace('.000Z', 'Z');

/** A book that is written down before each command. */
class Written {
  book = new AlertBook();

  take(command: AlertCommand, seconds = 0, who: Partial<typeof teller> = {}): Alert | null {
    this.book = AlertBook.from(JSON.parse(JSON.stringify(this.book)));
    return this.book.take(command, { ...teller, ...who }, NOW + seconds);
  }

  resolve(alert: Alert, note: string, seconds: number): Alert | null {
    return this.take({ kind: 'resolved', alert, note }, seconds, { reporter: 'user' });
  }
}

describe('the alerts of a tenant', () => {
  it('say since when they fire this time', () => {
    const book = new Written();
    const commands = [fires('fired', 1, 0), fires('updated', 2, 10), back(600), fires('fired', 3, 900), fires('updated', 4, 910)];
    const alerts = commands.map((command) => book.take(command));
    expect(alerts.map((alert) => (JSON.parse(alert?.evidence ?? '{}') as Record<string, unknown>)['opened_at'])).to.deep.equal(
      [0, 0, 0, 900, 900].map(at),
    );
    expect(alerts.map((alert) => [alert?.id, alert?.state, alert?.fireCount, alert?.firedAt])).to.deep.equal([
      [ID, 'firing', 1, NOW],
      [ID, 'firing', 2, NOW],
      [ID, 'resolved', 2, NOW],
      [ID, 'firing', 3, NOW],
      [ID, 'firing', 4, NOW],
    ]);
  });

  it('that a user has resolved fire again as other ones, once they were back, whatever is told late', () => {
    const book = new Written();
    const alert = book.take(fires('fired', 1, 0)) as Alert;
    expect(book.resolve(alert, 'seen', 5)).to.include({ state: 'resolved', note: 'seen', resolvedAt: NOW + 5 });
    // an update that was under way, and those of hours
    for (const hour of [0, 1, 5, 11]) expect(book.take(fires('updated', 2 + hour, 10 + hour * 3600))).to.equal(null);
    expect(book.take(back(12 * 3600))).to.equal(null);
    const other = book.take(fires('fired', 14, 12 * 3600 + 600, { again: AGAIN }));
    expect(other).to.include({ id: AGAIN, state: 'firing', fireCount: 1, firedAt: NOW + 12 * 3600 + 600 });
    expect(book.take(fires('updated', 15, 12 * 3600 + 660))).to.include({ id: AGAIN, fireCount: 2 });
    // which may be resolved as well, and opens again by itself
    expect(book.take(back(12 * 3600 + 1300))).to.include({ id: AGAIN, state: 'resolved', fireCount: 2 });
    expect(book.take(fires('fired', 16, 12 * 3600 + 1900, { again: 99 }))).to.include({ id: AGAIN, state: 'firing', fireCount: 3 });
    expect(book.resolve({ ...alert, id: AGAIN }, 'once more', 12 * 3600 + 1910)).to.include({ id: AGAIN, note: 'once more' });
    expect(book.take(fires('updated', 17, 12 * 3600 + 1920))).to.equal(null);
  });

  it('are resolved by hand once; a note may come later where there is none, and repeated it changes nothing', () => {
    const book = new Written();
    const alert = book.take(fires('fired', 1, 0)) as Alert;
    expect(book.resolve(alert, '', 5)).to.include({ state: 'resolved', note: '', updatedAt: NOW + 5 });
    expect(book.resolve(alert, '', 6)).to.equal(null);
    expect(book.resolve(alert, 'late', 7)).to.include({ note: 'late', resolvedAt: NOW + 5, updatedAt: NOW + 7 });
    expect(book.resolve(alert, 'other', 8)).to.equal(null);
    expect(book.take(fires('updated', 2, 9)), 'still by hand').to.equal(null);
  });

  it('that are not remembered are resolved as they were shown, and then ignored as others are', () => {
    const book = new Written();
    const shown = { tenantId: 1, retentionDays: 14, id: ID, ...words, state: 'firing', firedAt: NOW - 99, fireCount: 7, updatedAt: NOW - 9, resolvedAt: null, note: '', incidentId: 3 } as const; // prettier-ignore
    expect(book.resolve(shown, 'gone', 1)).to.deep.equal({
      ...shown,
      state: 'resolved',
      resolvedAt: NOW + 1,
      updatedAt: NOW + 1,
      note: 'gone',
    });
    expect(book.take(fires('updated', 8, 2))).to.equal(null);
    expect(book.take(back(3))).to.equal(null);
  });

  it('that end without having fired here are none, and an end that is repeated changes nothing', () => {
    const book = new Written();
    expect(book.take(back(0))).to.equal(null);
    expect(book.take(fires('updated', 5, 1))).to.include({ state: 'firing', fireCount: 5, firedAt: NOW + 1 });
    expect(book.take(back(2, 'auto: the detector is off'))).to.include({ state: 'resolved', note: 'auto: the detector is off' });
    expect(book.take(back(3))).to.equal(null);
  });

  it('are no more than fit: another one comes when there is room', () => {
    const book = new Written();
    expect(book.take(fires('fired', 1, 0), 0, { mayTake: () => false })).to.equal(null);
    expect(book.take(fires('updated', 2, 60))).to.include({ state: 'firing', fireCount: 2, firedAt: NOW + 60 });
  });

  it('are forgotten an hour after their end, of whoever tells, and where nobody tells anything', () => {
    const book = new Written();
    book.take(fires('fired', 1, 0));
    book.take(back(10));
    book.take(fires('fired', 1, 7200, { id: 5 }), 0, { reporter: 'rule-alerts' });
    expect(book.take(fires('fired', 2, 3000)), 'opened again').to.include({ id: ID, firedAt: NOW });
    book.take(back(3010));
    expect(book.take(fires('fired', 3, 6700)), 'another time').to.include({ id: ID, firedAt: NOW + 6700 });
    book.book.sweep(NOW + 9 * 86_400);
    expect(book.book.isEmpty).to.equal(true);
  });

  it('of a release before are known and not published, unless the book knows better', () => {
    const kept = { tenantId: 1, retentionDays: 14, id: ID, ...words, state: 'firing', firedAt: NOW - 99, fireCount: 7, updatedAt: NOW - 9, resolvedAt: null, note: '', incidentId: 3 } as const; // prettier-ignore
    const book = new Written();
    const carried = { kind: 'carried', alert: kept, isByHand: false, openedAt: NOW - 99 } as const;
    expect(book.take(carried)).to.equal(null);
    expect(book.take(fires('updated', 8, 0))).to.include({ id: ID, fireCount: 8, firedAt: NOW - 99, incidentId: 3 });
    expect(book.take(fires('fired', 1, 1, { id: 5 })), 'of the same service').to.include({ id: 5, incidentId: 3 });
    // an older snapshot of theirs is handed over as well
    expect(book.take({ ...carried, alert: { ...kept, fireCount: 6 } })).to.equal(null);
    expect(book.take(back(9))).to.include({ fireCount: 8 });
    const byHand = new Written();
    byHand.take({ ...carried, alert: { ...kept, state: 'resolved', resolvedAt: NOW, note: 'seen' }, isByHand: true });
    expect(byHand.take(fires('updated', 8, 0))).to.equal(null);
  });
});

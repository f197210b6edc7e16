import { expect } from 'chai';
import { gunzipSync } from 'node:zlib';
import type { Alert, AlertRow } from '../../../pipeline/alerting/book/alert.ts';
import { encodeHeaders } from '../../../pipeline/bus/records/record.ts';
import { partialsSignal } from '../../../pipeline/processors/merge/partials.ts';
import books from '../../fixtures/snapshots/books.json' with { type: 'json' };
import { RuleWorld, ruleOf } from './rules/rule-world.ts';
import { around, learned, usual, type Came } from './streams/alerting-world.ts';

/** What the release before wrote down in the middle of a run, what it had published by then, and in the end. */
type Kept = { readonly snapshot: string; readonly before: readonly Shown[]; readonly after: readonly Shown[] };
type Shown = Pick<AlertRow, 'id' | 'state' | 'note' | 'fireCount' | 'firedAt' | 'updatedAt' | 'resolvedAt' | 'detector' | 'stream' | 'title' | 'incidentId'>; // prettier-ignore

const snapshotOf = ({ snapshot }: Kept): Buffer => gunzipSync(Buffer.from(snapshot, 'base64'));
const shown = ({ id, state, note, fireCount, firedAt, updatedAt, resolvedAt, detector, stream, title, incidentId }: AlertRow): Shown => ({ id, state, note, fireCount, firedAt, updatedAt, resolvedAt, detector, stream, title, incidentId }); // prettier-ignore
const alertOf = (row: AlertRow): Alert => ({ ...row, resolvedAt: null, incidentId: row.incidentId });

/** The last word on each alert after an upgrade, whose rows come behind those of the release before. */
const together = (before: readonly Shown[], rows: readonly AlertRow[]): Shown[] => [
  ...new Map([...before, ...rows.map(shown)].map((row) => [row.id, row])).values(),
];

/** The record that the release before wrote where a user resolved an alert. */
const former = (alert: Alert, note: string): { readonly value: Buffer; readonly headers: ReturnType<typeof encodeHeaders> } => ({
  value: Buffer.from(JSON.stringify({ alert, note })),
  headers: encodeHeaders(partialsSignal, { tenantId: alert.tenantId, retentionDays: 14, count: 1, bytes: 0, encoding: 'resolution' }),
});

const burst = (minute: number): Came[] => [
  { service: 'checkout', entries: 20 * around(30, minute) },
  { service: 'cart', entries: 20 * around(30, minute + 4) },
];

describe('alerts of streams that the release before kept', function () {
  this.timeout(120_000);
  const kept = books.streams as Kept;

  it('go on, end, open again and stay resolved as they would have, under the same ids', () => {
    const world = learned();
    world.run(5, burst);
    const cart = world.alerts.find(({ service }) => service === 'cart') as AlertRow;
    world.resolve(alertOf(cart), 'known');
    world.run(1, burst);
    expect(world.alerts.map(shown), 'this release alone').to.deep.equal(kept.before);
    world.upgrade(snapshotOf(kept));
    world.rows.length = 0;
    world.run(2, burst);
    world.run(20, usual);
    world.run(5, burst);
    expect(together(kept.before, world.rows)).to.deep.equal(kept.after);
  });

  it('are handed over once, and nothing is published of that', () => {
    const world = learned();
    world.run(6, burst);
    world.upgrade(snapshotOf(kept));
    world.rows.length = 0;
    world.run(1, () => []);
    world.restart();
    world.run(1, () => []);
    expect(world.rows).to.deep.equal([]);
  });

  it('are resolved by records of that release which nobody has read yet', () => {
    const world = learned();
    world.run(6, burst);
    world.upgrade(snapshotOf(kept));
    const checkout = world.alerts.find(({ service }) => service === 'checkout') as AlertRow;
    world.rows.length = 0;
    world.append(former(alertOf(checkout), 'by the old API'));
    expect(world.rows.map(({ id, state, note }) => [id, state, note])).to.deep.equal([[checkout.id, 'resolved', 'by the old API']]);
    world.run(3, burst);
    expect(world.rows).to.have.length(1);
  });

  it('have the same end without an upgrade', () => {
    const world = learned();
    world.run(5, burst);
    world.resolve(alertOf(world.alerts.find(({ service }) => service === 'cart') as AlertRow), 'known');
    world.run(3, burst);
    world.run(20, usual);
    world.run(5, burst);
    expect(world.alerts.map(shown)).to.deep.equal(kept.after);
  });
});

describe('alerts of rules that the release before kept', () => {
  const kept = books.rules as Kept;

  /** Minutes with so many entries of two services each. */
  class Run {
    readonly world = new RuleWorld();
    minute = 1;

    constructor() {
      this.world.set(ruleOf({ query: '* | stats by (service) count()', if: 'value > 5' }));
      this.run(3, 1);
      this.run(3, 20);
    }

    run(minutes: number, count: number): void {
      for (const end = this.minute + minutes; this.minute < end; this.minute++) {
        const at = this.minute * 60_000;
        for (const service of ['web', 'api'])
          this.world.send({ at: at + 20_000, entries: Array.from({ length: count }, () => ({ service })) });
        this.world.ticks(at + 30_000, at + 79_000);
      }
    }

    resolve(): void {
      const web = this.world.alerts.find(({ service }) => service === 'web') as AlertRow;
      this.world.resolve(web, 'known', this.minute * 60_000);
    }
  }

  it('go on, end, open again and stay resolved as they would have, under the same ids', () => {
    const run = new Run();
    run.resolve();
    run.run(1, 20);
    expect(run.world.alerts.map(shown), 'this release alone').to.deep.equal(kept.before);
    run.world.upgrade(snapshotOf(kept));
    run.world.rows.length = 0;
    run.run(2, 20);
    run.run(12, 1);
    run.run(3, 20);
    expect(together(kept.before, run.world.rows)).to.deep.equal(kept.after);
  });

  it('have the same end without an upgrade', () => {
    const run = new Run();
    run.resolve();
    run.run(3, 20);
    run.run(12, 1);
    run.run(3, 20);
    expect(run.world.alerts.map(shown)).to.deep.equal(kept.after);
  });
});

import { expect } from 'chai';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { MAX_STATE_BYTES } from '../../../../pipeline/bus/state/state-log.ts';
import { jsonPartials } from '../../../../pipeline/processors/base/json.ts';
import { partialInputOf, partialRecord, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import { ruleAlerts } from '../../../../pipeline/alerting/rules/rule-alerts.ts';
import { TestBook } from '../../../fakes/test-book.ts';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import { MINUTE_MS, ruleOf, START } from './rule-world.ts';

const [RULES, GROUPS, ATTACKERS] = [20, 100, 6];
/** As long as a group may be, of characters that take six bytes where they are written down, and more in the evidence of an alert. */
const HOSTILE = '\u0001'.repeat(1000);

/** All bins that a sketch has of a sign. */
const BINS = Array.from({ length: 1024 }, (_none, index) => [10_000 + index, 1]).flat();

/** `rule-alerts`, to which partials come. */
class Told {
  readonly #hosted = hostedMerger(ruleAlerts);
  #state = this.#hosted.init();
  readonly #book = new TestBook();
  #offset = 0;
  readonly rows: AlertRow[] = [];

  tell(tenantId: number, minute: number, rows: object[]): void {
    const appendedAt = START + minute * MINUTE_MS;
    const offset = this.#offset;
    for (const [number, partial] of jsonPartials({ tenantId, retentionDays: 7 }, [
      ...rows,
      { kind: 'end', through: appendedAt, isGone: false },
    ]).entries()) {
      const { value, headers } = partialRecord('rules', { partition: 0, offset, number, appendedAt }, partial);
      const message = { value, headers, offset: String(this.#offset++), timestamp: String(appendedAt) } as KafkaMessage;
      this.rows.push(...this.#book.take(this.#hosted.fold(this.#state, partialInputOf(0, message)), appendedAt));
    }
  }

  /** The bytes of a snapshot, with which it goes on. */
  restart(): number {
    const bytes = this.#hosted.snapshot(this.#state);
    const state = this.#hosted.restore(bytes);
    if (state === null) throw new Error('The snapshot cannot be read.');
    this.#state = state;
    this.#book.restart();
    return Math.max(bytes.length, this.#book.snapshot().length);
  }

  firing(tenantId: number): number {
    return new Set(this.rows.filter((row) => row.tenantId === tenantId).map(({ id }) => id)).size;
  }
}

const slots = Array.from({ length: RULES }, (_none, index) => index + 1);
const ruleRow = (slot: number): object => ({
  ...{ kind: 'rule', slot, version: 1, since: START },
  value: ruleOf({ id: `ru_${String(slot)}`, query: 'level:error | stats by (service) count()', if: 'value > 0' }),
});
const groupRows = (slot: number, minute: number, services: readonly string[]): object[] =>
  services.map((service) => ({
    kind: 'group',
    slot,
    version: 1,
    window: START / MINUTE_MS + minute,
    labels: [service],
    aggregate: [5, 5],
  }));

describe('the rules of a partition', function () {
  this.timeout(240_000);

  it('have a state that fits into a snapshot, whatever tenants group by, and leave the others their alerts', () => {
    const told = new Told();
    const services = Array.from({ length: GROUPS }, (_none, index) => `${String(index)}${HOSTILE}`);
    let most = 0;
    for (let tenantId = 1; tenantId <= ATTACKERS; tenantId++) {
      told.tell(tenantId, 0, slots.map(ruleRow));
      for (const slot of slots) told.tell(tenantId, 2, groupRows(slot, 2, services));
      told.tell(tenantId, 5, []);
      most = Math.max(most, told.restart());
    }
    expect(most, 'bytes of a snapshot')
      .to.be.below(0.9 * MAX_STATE_BYTES)
      .and.above(8e6);
    expect(told.firing(1), 'alerts of an attacker')
      .to.be.above(100)
      .and.below(RULES * GROUPS);
    const honest = ATTACKERS + 1;
    told.tell(honest, 6, slots.slice(0, 2).map(ruleRow));
    told.tell(honest, 8, groupRows(1, 8, ['web', 'api', 'payments']));
    told.tell(honest, 12, []);
    expect(told.firing(honest)).to.equal(3);
  });

  it('has room for all that a tenant may have whose groups have usual names', () => {
    const told = new Told();
    const services = Array.from({ length: GROUPS }, (_none, index) => `checkout-${String(index)}`);
    told.tell(1, 0, slots.map(ruleRow));
    for (const slot of slots) told.tell(1, 2, groupRows(slot, 2, services));
    told.tell(1, 5, []);
    expect(told.firing(1)).to.equal(RULES * GROUPS);
  });

  for (const [measure, kept, tenants] of [
    ['quantile(0.5, a)', [0, BINS, BINS], 1],
    ['count_uniq(a)', Buffer.alloc(4096, 3).toString('base64'), 3],
  ] as const)
    it(`have a state that fits into a snapshot, whatever values come of ${measure}`, () => {
      const told = new Told();
      for (let tenantId = 1; tenantId <= tenants; tenantId++) {
        const query = `level:error | stats by (service) ${measure}`;
        const value = ruleOf({ query, if: 'value < 0', every: '1h' });
        told.tell(
          tenantId,
          0,
          slots.map((slot) => ({ ...ruleRow(slot), value })),
        );
        // twice as many groups as a rule may have may be told of a window
        for (const window of [60, 120].slice(0, tenants))
          for (const slot of slots)
            told.tell(
              tenantId,
              61,
              Array.from({ length: 2 * GROUPS }, (_none, index) => ({
                ...{ kind: 'group', slot, version: 1, window: START / MINUTE_MS + window },
                ...{ labels: [`s${String(index)}`], aggregate: [2048, kept] },
              })),
            );
      }
      expect(told.restart(), 'bytes of a snapshot').to.be.below(0.9 * MAX_STATE_BYTES);
    });

  it('count nothing of a window for which there is no room, and say so', () => {
    const told = new Told();
    told.tell(
      1,
      0,
      slots.map((slot) => ({
        ...ruleRow(slot),
        value: ruleOf({ id: `ru_${String(slot)}`, query: '* | stats by (service) quantile(0.5, a)', if: 'value > 0' }),
      })),
    );
    const rowsOf = (slot: number): object[] =>
      Array.from({ length: GROUPS }, (_none, index) => ({
        ...{ kind: 'group', slot, version: 1, window: START / MINUTE_MS + 2 },
        ...{ labels: [`s${String(index)}`], aggregate: [2048, [0, BINS, BINS]] },
      }));
    for (const slot of slots) told.tell(1, 2, [...rowsOf(slot), ...rowsOf(slot)]);
    told.tell(1, 5, []);
    const titles = new Set(told.rows.map(({ title }) => title.replace(/[\d,]+/g, 'N')));
    expect([...titles]).to.include("Rule 'mine' is over its budget: N entries were not evaluated");
  });
});

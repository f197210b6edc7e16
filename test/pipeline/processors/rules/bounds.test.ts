import { expect } from 'chai';
import type { KafkaMessage } from '../../../../pipeline/bus/kafka.ts';
import { MAX_STATE_BYTES } from '../../../../pipeline/bus/state-log.ts';
import { jsonPartials } from '../../../../pipeline/processors/json.ts';
import { partialInputOf, partialRecord } from '../../../../pipeline/processors/merge/partials-signal.ts';
import { secondStage } from '../../../../pipeline/processors/merge/stages.ts';
import { ruleAlerts } from '../../../../pipeline/processors/rules/rule-alerts.ts';
import { alertRowsOf } from '../../../fakes/alert-rows.ts';
import type { AlertRow } from '../../../../pipeline/alerts/alert.ts';
import { MINUTE_MS, ruleOf, START } from './rule-stages.ts';

const [RULES, GROUPS, ATTACKERS] = [20, 100, 6];
/** As long as a group may be, of characters that take six bytes where they are written down, and more in the evidence of an alert. */
const HOSTILE = '\u0001'.repeat(1000);

/** `rule-alerts`, to which partials come. */
class Told {
  readonly #stage = secondStage(ruleAlerts);
  #state = this.#stage.init();
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
      this.rows.push(...alertRowsOf(this.#stage.fold(this.#state, partialInputOf(0, message))));
    }
  }

  /** The bytes of a snapshot, with which it goes on. */
  restart(): number {
    const bytes = this.#stage.snapshot(this.#state);
    const state = this.#stage.restore(bytes);
    if (state === null) throw new Error('The snapshot cannot be read.');
    this.#state = state;
    return bytes.length;
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
      .and.above(16e6);
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
});

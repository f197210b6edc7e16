import { expect } from 'chai';
import { MAX_SESSION_MS } from '../../../pipeline/replay/chunk.ts';
import { MAX_SESSION_BYTES, SessionBounds } from '../../../pipeline/replay/session-bounds.ts';
import { SessionRecall, type SessionSize, type SessionSpan } from '../../../pipeline/replay/session-recall.ts';
import { eventually } from '../../fakes/eventually.ts';

const NOW = 1_795_269_600_000;
const SPAN = { first: NOW, last: NOW };

/** A table that a test answers for. */
class Table {
  readonly questions: (readonly [tenantId: number, sessions: readonly string[]])[] = [];
  readonly #open: { resolve(sizes: ReadonlyMap<string, SessionSize>): void; reject(error: Error): void }[] = [];

  readonly stored = (tenantId: number, sessions: ReadonlyMap<string, SessionSpan>): Promise<ReadonlyMap<string, SessionSize>> => {
    this.questions.push([tenantId, [...sessions.keys()]]);
    return new Promise((resolve, reject) => this.#open.push({ resolve, reject }));
  };

  /** Answers the oldest question. */
  answer(sizes: Readonly<Record<string, SessionSize>>): void {
    this.#open.shift()?.resolve(new Map(Object.entries(sizes)));
  }

  fail(): void {
    this.#open.shift()?.reject(new Error('away'));
  }

  asked(count: number): Promise<unknown> {
    return eventually('the questions', () => this.questions.length, (length) => length === count); // prettier-ignore
  }
}

describe('the size of a session that a process does not know', () => {
  const near = { ...SPAN, bytes: MAX_SESSION_BYTES - 1000 };
  const fits = (fault: string): boolean => fault === '';

  it('is what is stored: what would be beyond the bound is refused, as before a restart', async () => {
    const table = new Table();
    const bounds = new SessionBounds(table.stored);
    expect(bounds.add(1, 's', 900, NOW, NOW)).to.equal('');
    expect(table.questions).to.deep.equal([[1, ['s']]]);
    table.answer({ s: near });
    await eventually('the answer', () => bounds.add(1, 's', 2000, NOW, NOW), (fault) => /more than 268435456 bytes/.test(fault)); // prettier-ignore
    expect(bounds.add(1, 's', 1, NOW, NOW), 'nothing comes behind what was refused').to.not.equal('');
    expect(bounds.faultOf(1, 's')).to.not.equal('');
    expect([bounds.faultOf(2, 's'), bounds.faultOf(1, 't')]).to.deep.equal(['', '']);
  });

  it('has its times, too', async () => {
    const table = new Table();
    const bounds = new SessionBounds(table.stored);
    bounds.add(1, 's', 1, NOW, NOW);
    table.answer({ s: { bytes: 1, first: NOW - MAX_SESSION_MS, last: NOW - 1 } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(bounds.add(1, 's', 1, NOW, NOW + 1)).to.match(/longer than 12 hours/);
    expect(bounds.add(1, 's', 1, NOW, NOW)).to.equal('');
  });

  it('is waited for by no batch: neither of the session, nor of another one, nor while ClickHouse is away', async () => {
    const table = new Table();
    const faults: unknown[] = [];
    const bounds = new SessionBounds(table.stored, (error) => void faults.push(error));
    const batches = Array.from({ length: 100 }, (_none, index) => bounds.add(1, `s-${String(index % 10)}`, 1000, NOW, NOW));
    expect(batches.every(fits)).to.equal(true);
    table.fail();
    await eventually('the fault', () => faults.length, (count) => count === 1); // prettier-ignore
    expect(bounds.add(1, 's-0', 1000, NOW, NOW)).to.equal('');
  });

  it('is asked for again where there was no answer', async () => {
    const table = new Table();
    const found: unknown[] = [];
    let faults = 0;
    const onFault = (): void => void (faults += 1);
    const pause = (): Promise<void> => Promise.resolve();
    const recall = new SessionRecall({
      ...{ stored: table.stored, onFault, retryMs: 0, pause },
      onFound: (...all) => void found.push(all),
    });
    recall.want(1, 's', SPAN);
    table.fail();
    await table.asked(2);
    table.fail();
    await table.asked(3);
    table.answer({ s: near });
    await eventually('the answer', () => found.length, (count) => count === 1); // prettier-ignore
    expect(found).to.deep.equal([[1, 's', near]]);
    expect(faults, 'an outage is told once').to.equal(1);
  });

  it('is asked for in one question at a time, tenant by tenant, and not for more than a tenant may have waiting', async () => {
    const table = new Table();
    const pause = (): Promise<void> => Promise.resolve();
    const recall = new SessionRecall({ stored: table.stored, onFault: () => undefined, onFound: () => undefined, pause });
    for (let index = 0; index < 5000; index++) recall.want(1, `s-${String(index)}`, SPAN);
    recall.want(2, 's', SPAN);
    for (let count = 1; count <= 4; count++) {
      await table.asked(count);
      table.answer({});
    }
    recall.want(3, 's', SPAN);
    await table.asked(5);
    expect(table.questions.map(([tenant, { length }]) => [tenant, length])).to.deep.equal([[1, 1], [1, 500], [2, 1], [1, 499], [3, 1]]); // prettier-ignore
  });

  it('is asked for together with others that come before the next round', async () => {
    const table = new Table();
    const rounds: (() => void)[] = [];
    const pause = (): Promise<void> => new Promise((go) => rounds.push(go));
    const recall = new SessionRecall({ stored: table.stored, onFault: () => undefined, onFound: () => undefined, pause });
    recall.want(1, 'a', SPAN);
    table.answer({});
    await eventually('the end of the round', () => rounds.length, (count) => count === 1); // prettier-ignore
    for (const session of ['b', 'c', 'd']) recall.want(1, session, SPAN);
    await new Promise((resolve) => setImmediate(resolve));
    expect(table.questions).to.have.length(1);
    rounds[0]?.();
    await table.asked(2);
    expect(table.questions[1]).to.deep.equal([1, ['b', 'c', 'd']]);
  });
});

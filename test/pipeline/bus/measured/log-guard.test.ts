import { expect } from 'chai';
import { statfsSync } from 'node:fs';
import os from 'node:os';
import { pino } from 'pino';
import { parseUsageRecord } from '../../../../pipeline/bus/state/usage-records.ts';
import { diskCheck, LogGuard, type GuardCheck, type GuardedTopic } from '../../../../pipeline/bus/measured/log-guard.ts';

const logger = pino({ level: 'silent' });

/** A check that pauses all that tenants send to. */
const ofAll = (check: GuardCheck): GuardedTopic => ({ topic: null, check });

/** What the guard published, once it has published so often. */
async function published(checks: readonly GuardCheck[], count: number): Promise<(string | null)[]> {
  const values: (string | null)[] = [];
  let enough: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (enough = resolve));
  const append = (key: string, value: string | null): Promise<bigint> => {
    const record = parseUsageRecord(key, value);
    if (record?.kind === 'guard') values.push(record.full);
    if (values.length === count) enough();
    return Promise.resolve(0n);
  };
  const guard = new LogGuard({ checks: checks.map(ofAll), topic: { append }, logger, everyMs: 1 });
  await guard.start();
  await reached;
  await guard.stop();
  return values.slice(0, count);
}

describe('log guard', () => {
  const fine: GuardCheck = () => Promise.resolve(null);

  it('tells the first reason why the log must take no more, and when it is gone', async () => {
    let looks = 0;
    const filling: GuardCheck = () => Promise.resolve(++looks === 2 ? 'full' : null);
    expect(await published([fine, filling, () => Promise.resolve(looks === 2 ? 'old' : null)], 3)).to.deep.equal([null, 'full', null]);
  });

  it('is silent while it cannot tell', async () => {
    let looks = 0;
    const failing: GuardCheck = () => (++looks < 3 ? Promise.reject(new Error('no')) : Promise.resolve(`look ${looks}`));
    expect(await published([fine, failing], 1)).to.deep.equal(['look 3']);
  });

  it('does not wait for Kafka, neither as it starts nor as it stops', async () => {
    const never = new Promise<null>(() => undefined);
    const guard = new LogGuard({ checks: [ofAll(() => never)], topic: { append: () => Promise.reject(new Error('no')) }, logger });
    await guard.start();
    await guard.stop();
  });

  it('does nothing while another process looks, and takes over when that has ended', async () => {
    let [turns, looks] = [0, 0];
    const paused: boolean[] = [];
    const values: (string | null)[] = [];
    await new Promise<void>((resolve) => {
      const append = (key: string, value: string | null): Promise<bigint> => {
        const record = parseUsageRecord(key, value);
        if (record?.kind === 'guard') values.push(record.full);
        return Promise.resolve(0n);
      };
      const guard: LogGuard = new LogGuard({
        ...{ checks: [ofAll(() => Promise.resolve(`look ${++looks}`))], topic: { append }, logger, everyMs: 1 },
        isStandby: () => ++turns !== 3 && turns !== 4,
        onLook: (isPaused) => {
          paused.push(isPaused);
          expect(guard.warning).to.equal(isPaused ? `Ingest is paused. look ${looks}` : null);
          if (turns === 6) void guard.stop().then(resolve);
        },
      });
      void guard.start();
    });
    expect(values).to.deep.equal(['look 1', 'look 2']);
    expect(paused.slice(0, 6)).to.deep.equal([false, false, true, true, false, false]);
  });

  it('warns of a pause, and where it cannot tell for longer than one look', async () => {
    let looks = 0;
    const outcomes = ['full', new Error('no'), new Error('Kafka has no topic logs.v1'), null];
    const check: GuardCheck = () => {
      const outcome = outcomes[Math.min(looks++, outcomes.length - 1)] ?? null;
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    };
    const seen: (string | null)[] = [];
    const paused: boolean[] = [];
    await new Promise<void>((resolve) => {
      const append = (): Promise<bigint> => Promise.resolve(0n);
      const guard: LogGuard = new LogGuard({
        ...{ checks: [ofAll(() => (seen.push(guard.warning), check()))], topic: { append }, logger, everyMs: 1 },
        onLook: (isPaused) => {
          paused.push(isPaused);
          if (looks > outcomes.length) void guard.stop().then(resolve);
        },
      });
      void guard.start();
    });
    expect(seen.slice(0, 5)).to.deep.equal([
      null,
      'Ingest is paused. full',
      'Ingest is paused. full',
      'Ingest pauses, since the log cannot be watched: Kafka has no topic logs.v1.',
      null,
    ]);
    expect(paused.slice(0, 3)).to.deep.equal([true, true, false]);
  });

  it('pauses a topic alone where its own check says so', async () => {
    const reports: unknown[] = [];
    await new Promise<void>((resolve) => {
      const append = (key: string, value: string | null): Promise<bigint> => {
        reports.push(parseUsageRecord(key, value));
        if (reports.length === 1) resolve();
        return Promise.resolve(0n);
      };
      const late: GuardedTopic = { topic: 'spans.v1', check: () => Promise.resolve('late') };
      const guard = new LogGuard({ checks: [ofAll(fine), late], topic: { append }, logger, everyMs: 1 });
      void guard.start().then(() => guard.stop());
    });
    expect(reports[0]).to.deep.include({ kind: 'guard', full: null, topics: { 'spans.v1': 'late' } });
  });

  it('looks at the free share of the disk', async () => {
    const { bavail, blocks } = statfsSync(os.tmpdir());
    const free = (100 * bavail) / blocks;
    expect(await diskCheck(os.tmpdir(), Math.max(0, free - 5))()).to.equal(null);
    expect(await diskCheck(os.tmpdir(), free + 5)()).to.match(/^The disk of Kafka's log has \d+\.\d % free; at least /);
    const failure = await diskCheck('/no/such/folder', 10)().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
  });
});

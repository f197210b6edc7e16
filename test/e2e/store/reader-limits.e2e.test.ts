import { expect } from 'chai';
import { setMaxListeners } from 'node:events';
import { sql, uint32 } from '../../../pipeline/core/sql.ts';
import { PRIORITIES } from '../../../api/engine/local-engine.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { until } from '../instance.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { at } from '../query-setup.ts';

/** Statements of queries that run at once, and those that are requested. */
const [PLACES, MANY] = [40, 60];

describe('queries in ClickHouse', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
    await own.insert(1, [at(1, { _msg: 'm' })]);
  });
  after(() => own.stop());

  const options = { tenantId: 1, timeoutMs: 20_000 };
  const endless = sql`SELECT sum(sipHash64(number)) FROM numbers(1000000000000)`;

  it('have less memory and fewer places together than the server, and cannot take more', async () => {
    const [row = []] = await own.store.rows(
      sql`SELECT getSetting('max_memory_usage_for_user'), getSetting('max_concurrent_queries_for_user')`,
      options,
    );
    expect(Number(row[0])).to.be.within(1, 3_600_000_000);
    expect(Number(row[1])).to.equal(PLACES);
    for (const name of ['max_memory_usage_for_user', 'max_concurrent_queries_for_user']) {
      const raised = own.store.rows(sql`SELECT 1`, { ...options, settings: { [name]: 0 } });
      expect(await raised.catch(String)).to.include('should not be changed');
    }
  });

  it('come through, however they are ranked, while others go on that come before them', async () => {
    const end = new AbortController();
    const first = own.store
      .rows(endless, {
        ...{ tenantId: 2, timeoutMs: 600_000, signal: end.signal, requestId: 'first' },
        settings: { max_threads: 1, ...PRIORITIES.first },
      })
      .catch(() => 'ended');
    const isRunning = async (): Promise<boolean> => (await own.store.runningStatements()).some(({ id }) => id.startsWith('first-'));
    try {
      await until('a statement that runs', isRunning, (is) => is);
      // before each of its rows it lets the other one pass: ClickHouse's second for each would be more than it has
      const rows = sql`SELECT number FROM numbers(30)`;
      for (const priority of [PRIORITIES.heavy, PRIORITIES.export])
        expect(await own.store.rows(rows, { ...options, settings: { max_block_size: 1, ...priority } })).to.have.length(30);
      expect(await isRunning()).to.equal(true);
    } finally {
      end.abort();
    }
    expect(await first).to.equal('ended');
  });

  it('that run are known with their tenant and what they have used', async () => {
    const end = new AbortController();
    const used = async (): Promise<number> =>
      (await own.store.runningStatements()).find(({ id, tenantId }) => id.startsWith('busy-') && tenantId === 7)?.cpuMs ?? 0;
    const busy = own.store
      .rows(endless, {
        ...{ tenantId: 7, timeoutMs: 600_000, signal: end.signal, requestId: 'busy' },
      })
      .catch(() => 'ended');
    await until('CPU time', used, (ms) => ms > 100);
    end.abort();
    expect(await busy).to.equal('ended');
  });

  it('are refused beyond their places, while inserts have theirs', async () => {
    // they run until they are ended, so that none leaves its place to another on a busy machine
    const wait = sql`SELECT sum(sleepEachRow(0.5)) FROM (SELECT arrayJoin(range(${uint32(1100)})) AS n)`;
    const end = new AbortController();
    setMaxListeners(2 * MANY, end.signal);
    const waiting = {
      tenantId: 1,
      timeoutMs: 600_000,
      signal: end.signal,
      settings: { function_sleep_max_microseconds_per_block: '600000000' },
    };
    const refused: Error[] = [];
    const sleeping = (): Promise<void> =>
      own.store.rows(wait, waiting).then(
        // ClickHouse cuts a sleep short after its first second on a busy machine: the query takes its place again
        () => (end.signal.aborted ? undefined : sleeping()),
        (error: unknown) => {
          if (!end.signal.aborted) refused.push(error as Error);
        },
      );
    const asked = Array.from({ length: MANY }, sleeping);
    /** What ended otherwise than for want of a place. */
    const otherEnd = (): Error | undefined => refused.find((error) => !(error instanceof HttpError) || error.status !== 429);
    const running = async (): Promise<number> =>
      Number((await own.store.ownerRows("SELECT count() FROM system.processes WHERE user = 'reader'"))[0]?.[0]);
    try {
      await until(
        'the refusals',
        () => Promise.resolve(refused.length),
        (count) => count >= MANY - PLACES || otherEnd() !== undefined,
      );
      // on a busy machine one more may be refused, where a statement has ended and still has its place
      const isAll = (count: number): boolean => count >= PLACES - 5 && count === MANY - refused.length;
      await until('all others to run', running, (count) => isAll(count) || otherEnd() !== undefined);
      const wrong = otherEnd();
      if (wrong !== undefined) throw wrong;
      await own.insert(1, [at(2, { _msg: 'n' })]);
    } finally {
      end.abort();
      await Promise.all(asked);
    }
    await until('places', running, (count) => count === 0);
    expect(await own.store.rows(sql`SELECT count() FROM logs WHERE tenant_id = ${uint32(1)}`, options)).to.deep.equal([['2']]);
  });
});

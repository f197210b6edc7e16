import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../../../pipeline/core/config.ts';
import type { StoreSet } from '../../../pipeline/core/config-sets.ts';
import { HttpError, queryTimeout, storeUnavailable } from '../../../pipeline/core/errors.ts';
import type { Service } from '../../../pipeline/core/service.ts';
import type { Store } from '../../../pipeline/store/client.ts';
import type { MemoryLimits } from '../../../logsql/base/memory.ts';
import type { EngineAnswer, QueryEngine, QueryJob } from '../../query/engine.ts';
import {
  ABORT,
  DATA,
  END,
  ERROR,
  frameOf,
  STOPPED,
  HEAD,
  jsonFrame,
  jsonOf,
  NOTE,
  PIPES,
  READY,
  RUN,
  type Frame,
} from '../../workers/frames.ts';
import { least } from './least.ts';
import { beyondBound } from './memory-bound.ts';
import { sentJob, type AnswerHead, type SentPipes, type WorkerSettings } from './messages.ts';
import { receivedError, type SentError } from '../../workers/sent-error.ts';
import { PoolJob } from './pool-job.ts';
import { Queue, type Running } from './queue.ts';
import { TenantWork } from './tenant-work.ts';
import { UsedCpu } from './used-cpu.ts';
import { WorkerProcess, type WorkerEvents, type WorkerProgram } from '../../workers/worker-process.ts';
import { isQuery, SILENT_MS, WorkerSlot } from './worker-slot.ts';

export type QueryPoolOptions = {
  readonly clickhouse: Config['clickhouse'];
  /** Where there are several: each job names one of them. */
  readonly sets?: readonly Pick<StoreSet, 'name' | 'clickhouse'>[];
  readonly limits: Pick<Config['limits'], 'maxFacetFields'>;
  /** Ends in ClickHouse what an exited worker has left running there, and lists what runs there. */
  readonly store: Pick<Store, 'endMarked' | 'runningStatements'>;
  readonly log: Logger;
  /** How many processes; a tenant's queries are in half of them at most. */
  readonly workers: number;
  /** Most bytes that all of them together take beyond what they took when they began. */
  readonly maxBytes?: number;
  /** What all queries of a worker may hold. */
  readonly memory?: MemoryLimits;
  /** Is given why a worker was ended, or has ended. */
  readonly onLost?: (why: 'time' | 'memory' | 'crash') => void;
  /** What they run, where it is not the program next to this file. */
  readonly program?: Partial<WorkerProgram>;
};

const QUERY_WORKER = path.join(import.meta.dirname, 'query-worker');
/** For each worker, of what all of them grow by: a worker that begins takes 45 MB, and how much its program is does not count. */
const WORKER_BYTES = 32 * 1024 * 1024;
/** What all queries of a worker may hold; its heap is for them, and for what is made on the way. */
const MEMORY = { maxRows: 1_000_000, maxBytes: 64_000_000 };
/** A worker that is replaced has grown for the tenant for whom it grew by so much, bytes. */
const GROWN_BYTES = 20 * 1024 * 1024;
/** How often workers with work are looked at. Milliseconds. */
const LOOK_MS = 50;
/** While there is no work, one look in this number is done. */
const IDLE_LOOKS = 20;
/** How long a query has beyond its timeout to report it itself. Milliseconds. */
const GRACE_MS = 500;
const RETRY_AFTER_SECONDS = 5;
/** How far the priority of patient workers is below that of the others: while these want the CPU, those get a tenth of it. */
const PATIENCE = 10;
/** How often a query is restarted. */
const MAX_MOVES = 5;
/** Before another process takes the place of one that could not begin. Milliseconds. */
const AGAIN_MS = 500;

/**
 * Runs queries in processes of their own, so that nothing that a query does delays this one or ends it. A worker has several queries, as
 * most wait for ClickHouse. A silent one keeps the query that uses it up; the others are restarted elsewhere as long as nothing of their
 * answer was sent. One that dies takes the query that it was working on.
 */
export class QueryPool implements QueryEngine, Service {
  readonly name = 'query workers';
  readonly #options: QueryPoolOptions;
  readonly #slots: readonly WorkerSlot[];
  readonly #waiting = new Queue();
  readonly #work = new TenantWork();
  readonly #used: UsedCpu;
  #running = false;
  #numbers = 0;
  #looks: NodeJS.Timeout | undefined;
  /** How often it was looked in a row when there was nothing to do. */
  #idleLooks = 0;

  constructor(options: QueryPoolOptions) {
    this.#options = options;
    this.#used = new UsedCpu(this.#work, () => options.store.runningStatements());
    this.#slots = Array.from({ length: options.workers }, (_none, at) => new WorkerSlot(at < Math.floor(options.workers / 2)));
  }

  start(): Promise<void> {
    this.#running = true;
    for (const slot of this.#slots) this.#open(slot);
    this.#looks = setInterval(() => {
      this.#look();
    }, LOOK_MS).unref();
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#running = false;
    clearInterval(this.#looks);
    for (const job of this.#all()) job.fail(storeUnavailable());
    for (const { worker } of this.#slots) worker?.kill();
    return Promise.resolve();
  }

  run(job: QueryJob): Promise<EngineAnswer> {
    return new Promise((resolve, reject) => {
      const own = new PoolJob(job, { resolve, reject, onOver: () => this.#over(own) });
      if (!this.#running) {
        own.fail(storeUnavailable());
        return;
      }
      try {
        this.#waiting.add(own);
        this.#placeWaiting();
      } catch (error) {
        own.fail(error as Error);
      }
    });
  }

  /** The processes, for those who watch them. */
  get pids(): number[] {
    return this.#slots.flatMap(({ worker }) => worker?.pid ?? []);
  }

  #all(): PoolJob[] {
    return [...this.#waiting, ...this.#slots.flatMap(({ jobs }) => [...jobs.values()])];
  }

  #open(slot: WorkerSlot): void {
    const { clickhouse, sets = [], limits, log, memory = MEMORY, program } = this.#options;
    const mark = `-${randomUUID()}`;
    const settings: WorkerSettings = { clickhouse, sets, limits, memory, mark };
    const events: WorkerEvents = {
      onFrame: (frame) => {
        if (slot.worker === worker) this.#take(slot, frame);
      },
      onExit: (how) => {
        if (slot.worker === worker) this.#exited(slot, how, log);
      },
    };
    const worker = new WorkerProcess(settings, events, {
      module: QUERY_WORKER,
      ...(slot.isPatient ? { patience: PATIENCE } : {}),
      ...program,
    });
    Object.assign(slot, { worker, mark, isReady: false, noted: 0, silentMs: 0, why: null });
  }

  /** Queries of a tenant that run now, without exports. */
  runningBy(tenantId: number): number {
    return this.#runningOf(tenantId).queries;
  }

  /** Whether there are queries of others than a tenant, be they running or waiting; exports, which may last hours, apart. */
  hasOthers(tenantId: number): boolean {
    return this.#all().some(({ job }) => job.tenantId !== tenantId && isQuery(job));
  }

  /** What of a tenant runs, in all workers. */
  #runningOf(tenantId: number): Running {
    const own = this.#slots.flatMap(({ all }) => all).filter((job) => job.tenantId === tenantId);
    return { jobs: own.length, queries: own.filter(isQuery).length };
  }

  /** Begins what waits, as far as the workers take it. */
  #placeWaiting(): void {
    for (let isPlaced = true; isPlaced && this.#waiting.size > 0;)
      isPlaced = this.#waiting.next((tenantId) => this.#runningOf(tenantId)).filter((job) => this.#place(job)).length > 0;
  }

  /** The workers that a tenant is in, and whether it may be in no more. */
  #ownOf(tenantId: number, now: number): { readonly own: readonly WorkerSlot[]; readonly isFull: boolean } {
    const own = this.#slots.filter((slot) => slot.isOf(tenantId, now));
    return { own, isFull: own.length >= Math.max(1, Math.floor(this.#slots.length / 2)) };
  }

  /**
   * Gives a job to one of the workers that it may go to; false where it has to wait. That is the one whose other tenants have worked least
   * of late, and then the one with the least to do; near a tenant whose work is most of all, one that is not patient goes first. So a tenant
   * that works much is by itself; where its work is most of all, it is in patient workers, of which there are as many as one tenant may have.
   */
  #place(job: PoolJob): boolean {
    const { tenantId } = job.job;
    const now = performance.now();
    const { own, isFull } = this.#ownOf(tenantId, now);
    const isHeavy = this.#work.isHeavy(tenantId, now);
    const allowed = isFull ? own : this.#slots;
    const mustBePatient = isHeavy && allowed.some(({ isPatient }) => isPatient);
    const open = allowed.filter((slot) => slot.mayTake(job.job) && (slot.isPatient || !mustBePatient));
    const places = open.map((slot) => ({ slot, company: slot.company(tenantId, now) }));
    // a tenant whose work is most of all may have been in any worker before, and is in patient ones from now on
    const isNearHeavy = places.some(({ company }) => company.some((other) => this.#work.isHeavy(other, now)));
    const rank = ({ slot, company }: (typeof places)[number]): readonly number[] => {
      const patience = Number(slot.isPatient);
      return [this.#work.ofAll(company, now), isNearHeavy ? patience : 0, slot.jobs.size, patience];
    };
    const slot = least(places, rank)?.slot;
    if (slot === undefined) return false;
    slot.placed(tenantId, now);
    this.#waiting.delete(job);
    const number = (this.#numbers = (this.#numbers % 0xffffffff) + 1);
    job.placed(number, (parts) => slot.worker?.send(parts));
    slot.jobs.set(number, job);
    slot.worker?.send(jsonFrame(RUN, number, sentJob(job.job, now - job.job.startedAt, isHeavy)));
    return true;
  }

  /** A job has its answer, or its client no longer waits. */
  #over(job: PoolJob): void {
    this.#waiting.delete(job);
    for (const slot of this.#slots) {
      if (slot.jobs.get(job.number) !== job) continue;
      this.#forget(slot, job);
      slot.leaving.set(job.number, job.job);
    }
    this.#placeWaiting();
  }

  #forget(slot: WorkerSlot, job: PoolJob): void {
    slot.jobs.delete(job.number);
    if (!job.isAnswered) slot.worker?.send(frameOf(ABORT, job.number));
  }

  #take(slot: WorkerSlot, frame: Frame): void {
    const job = slot.jobs.get(frame.job);
    switch (frame.type) {
      case READY:
        slot.isReady = true;
        slot.firstBytes = slot.worker?.memory() ?? 0;
        this.#placeWaiting();
        break;
      case NOTE:
        slot.noted = frame.job;
        if (job !== undefined) job.isNoted = true;
        break;
      case PIPES:
        if (job !== undefined) job.pipes = jsonOf(frame) as SentPipes;
        break;
      case HEAD:
        job?.head(jsonOf(frame) as AnswerHead);
        break;
      case DATA:
        job?.data(frame.bytes);
        break;
      case END:
        if (slot.noted === frame.job) slot.noted = 0;
        job?.end();
        break;
      case ERROR:
        if (slot.noted === frame.job) slot.noted = 0;
        job?.answeredWith(receivedError(jsonOf(frame) as SentError));
        break;
      case STOPPED:
        slot.leaving.delete(frame.job);
        this.#placeWaiting();
        break;
    }
  }

  /** Looks at those that have work: whether they are there, how much they take, and whose time is up. */
  #look(): void {
    // with nothing to do, only what idle workers take may change, and that slowly
    this.#idleLooks = this.#all().length === 0 ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks % IDLE_LOOKS !== 0) return;
    const now = performance.now();
    for (const slot of this.#slots) {
      if (slot.jobs.size > 0) this.#used.lookAt(slot, now);
      slot.silentMs = slot.jobs.size > 0 && slot.isReady ? (slot.worker?.silentMs(now) ?? 0) : 0;
      if (slot.silentMs >= SILENT_MS) this.#relieve(slot);
    }
    for (const job of this.#all()) if (job.elapsedMs(now) > job.job.timeoutMs + GRACE_MS) this.#late(job);
    if (this.#slots.some(({ jobs }) => jobs.size > 0)) void this.#used.ask(now);
    this.#keepMemory();
    this.#placeWaiting();
  }

  /**
   * Moves the jobs of a silent worker to others, except the one that uses it up. Those of the same tenant stay too where it has no other place: they
   * would be begun again in this one, and cost all the more.
   */
  #relieve(slot: WorkerSlot): void {
    const holder = slot.jobs.get(slot.noted)?.job.tenantId;
    const isStaying = (tenantId: number): boolean => tenantId === holder && this.#ownOf(tenantId, performance.now()).isFull;
    for (const job of [...slot.jobs.values()]) {
      if (job.number === slot.noted || job.hasBegun || job.moves >= MAX_MOVES || isStaying(job.job.tenantId)) continue;
      this.#forget(slot, job);
      job.moves += 1;
      this.#waiting.again(job);
    }
    this.#placeWaiting();
  }

  /** A job has not ended though its time is up: where it holds its worker, that is ended too. */
  #late(job: PoolJob): void {
    const slot = this.#slots.find(({ jobs }) => jobs.get(job.number) === job);
    // an answer that is being taken slowly waits for its reader, and delays no other job
    const allowedMs = job.hasBegun ? job.job.timeoutMs : 0;
    if (slot !== undefined && slot.noted === job.number && slot.silentMs > allowedMs) this.#end(slot, 'time');
    else if (!job.hasBegun) job.fail(slot === undefined ? busy() : tooLong(job));
  }

  #keepMemory(): void {
    const begun = this.#slots.filter(({ jobs, isReady }) => jobs.size > 0 || isReady);
    for (const slot of begun) slot.measured(slot.worker?.memory() ?? 0);
    for (const slot of beyondBound(begun, this.#options.maxBytes ?? this.#slots.length * WORKER_BYTES))
      if (slot.why === null) this.#end(slot, slot.isIdle ? 'idle' : 'memory');
  }

  /** Ends a worker; what it leaves behind is seen to when it has exited. */
  #end(slot: WorkerSlot, why: WorkerSlot['why']): void {
    slot.why = why;
    slot.isReady = false;
    slot.worker?.kill();
  }

  /**
   * Who has most probably ended a worker that has not reported whose query it was working on: of the tenants with queries there, the one that works
   * most; of one that has grown and is replaced, the one for whom it grew.
   */
  #suspect({ jobs, why }: WorkerSlot, grownFor: number | null): number | null {
    if (why === 'idle') return grownFor;
    const now = performance.now();
    const tenants = [...new Set([...jobs.values()].map(({ job }) => job.tenantId))];
    return tenants.sort((a, b) => this.#work.of(b, now) - this.#work.of(a, now))[0] ?? null;
  }

  #exited(slot: WorkerSlot, how: string, log: Logger): void {
    const { why, noted, isReady } = slot;
    const isIdle = slot.all.length === 0;
    const ended = isIdle ? Promise.resolve() : this.#options.store.endMarked(slot.mark);
    const its = slot.culprit;
    const culprit = its?.job;
    const jobs = slot.lost(ended, culprit?.tenantId ?? this.#suspect(slot, slot.grownFor(GROWN_BYTES)), performance.now());
    void ended.then(() => {
      this.#placeWaiting();
    });
    if (!this.#running) return;
    if (jobs.length > 0) {
      this.#options.onLost?.(why === 'time' || why === 'memory' ? why : 'crash');
      const about = { how, why, requestId: culprit?.requestId, operation: culprit?.operation, tenantId: culprit?.tenantId };
      log.warn(about, 'A query worker ended with its query; it is replaced.');
    }
    for (const job of jobs) {
      // where it has not reported its job, it may have been any that it began; and another process may have killed it
      const isIts = job === its ? why !== null || how !== 'SIGKILL' || job.moves > 0 : noted === 0 && job.isNoted && job.moves > 0;
      if (isIts || job.hasBegun || job.moves >= MAX_MOVES)
        job.fail(isIts ? (why === 'time' ? tooLong(job) : tooMuch(job)) : storeUnavailable());
      else {
        job.moves += 1;
        this.#waiting.again(job);
      }
    }
    const isBroken = why === null && !isReady && jobs.length === 0;
    if (!isBroken) this.#open(slot);
    else {
      log.error({ how }, 'A query worker failed to start; retrying.');
      setTimeout(() => {
        if (this.#running) this.#open(slot);
      }, AGAIN_MS);
    }
    this.#placeWaiting();
  }
}

const busy = (): Error =>
  new HttpError(503, 'store_unavailable', 'The query workers are busy with other queries; retry later.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });
const pipesOf = ({ pipes: { names } }: PoolJob): string => (names.length === 0 ? '' : ` in its pipes ${names.join(', ')}`);
const adviceOf = ({ pipes: { advice } }: PoolJob): string => advice.map((text) => `, or ${text}`).join('');
const tooLong = (job: PoolJob): Error =>
  queryTimeout(`The query ran too long${pipesOf(job)}; narrow the time range or simplify the query${adviceOf(job)}.`);
const tooMuch = (job: PoolJob): Error =>
  queryTimeout(
    `The query took more memory than it may have${pipesOf(job)}; narrow the time range, or let fewer rows come that far${adviceOf(job)}.`,
  );

import { randomUUID } from 'node:crypto';
import { HttpError } from '../../pipeline/core/errors.ts';
import type { Report } from './sources.ts';

/** A backup or a restore as it is shown. */
export type Job = {
  readonly id: string;
  readonly kind: 'backup' | 'restore';
  readonly at: string;
  state: 'running' | 'done' | 'failed';
  /** What is being done. */
  step: string;
  /** Of the tables that are copied, as far as the engine tells. */
  done_bytes: number | null;
  of_bytes: number | null;
  readonly began_at: string;
  ended_at: string | null;
  /** Why it has failed. */
  detail: string | null;
  /** What it has brought. */
  result: object | null;
};

/** Backups and restores of this process: one at a time, of which the last is remembered. */
export class BackupJobs {
  #last: Job | null = null;

  /** Begins one; what is answered changes as it goes on. Throws HttpError 409 while another one runs. */
  begin(kind: Job['kind'], at: string, work: (report: Report) => Promise<object>): Job {
    const running = this.#last;
    if (running?.state === 'running')
      throw new HttpError(409, 'conflict', `A ${running.kind} (${running.at}) runs since ${running.began_at}: ${running.step}.`);
    const job: Job = {
      ...{ id: randomUUID(), kind, at, state: 'running', step: 'beginning', done_bytes: null, of_bytes: null },
      ...{ began_at: new Date().toISOString(), ended_at: null, detail: null, result: null },
    };
    this.#last = job;
    void this.#run(job, work);
    return job;
  }

  /** The last one, where it has this id. */
  find(id: string): Job | null {
    return this.#last?.id === id ? this.#last : null;
  }

  async #run(job: Job, work: (report: Report) => Promise<object>): Promise<void> {
    try {
      job.result = await work((step, done) => {
        [job.step, job.done_bytes, job.of_bytes] = [step, done?.bytes ?? null, done?.of ?? null];
      });
      job.state = 'done';
    } catch (error) {
      job.detail = `While ${job.step}: ${error instanceof Error ? error.message : String(error)}`;
      job.state = 'failed';
    }
    job.ended_at = new Date().toISOString();
  }
}

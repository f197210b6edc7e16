import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { WholeRun } from './whole.ts';

const PROGRAM = path.join(import.meta.dirname, 'run.ts');
/** What of a run is told while it goes on; its end is told in any case. */
const MESSAGE_FIELDS = /VIOLATION|NOT EXACT|FAILED|SKIPPED|: exact/;

export type WholeOptions = {
  readonly runs: readonly WholeRun[];
  /** How many clusters at a time, for the runs that are not quiet ones. */
  readonly jobs: number;
  readonly seed: number;
  readonly report: boolean;
  readonly log: (line: string) => void;
};

/** Runs each in a process of its own, several at a time, the quiet ones alone in the end. Resolves to the names of those that failed. */
export async function runWhole({ runs, jobs, seed, report, log }: WholeOptions): Promise<readonly string[]> {
  const failed: string[] = [];
  const children = new Set<ReturnType<typeof spawn>>();
  process.once('exit', () => {
    for (const child of children) child.kill('SIGTERM');
  });
  const began = Date.now();
  let done = 0;

  const runOne = async ({ scenario, times, seconds }: WholeRun): Promise<void> => {
    const args = [PROGRAM, '--scenario', scenario, '--seconds', String(seconds), '--seed', String(seed)];
    if (times !== undefined) args.push('--times', String(times));
    if (report) args.push('--report');
    log(`${scenario}: begins, ${times === undefined ? '' : `${String(times)} times or `}${String(seconds)} s`);
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.add(child);
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    for await (const line of createInterface({ input: child.stdout }))
      if (MESSAGE_FIELDS.test(line)) log(`${scenario}: ${line.replace(/^\d\d:\d\d:\d\d\s+/, '')}`);
    const code = await ended;
    children.delete(child);
    if (code !== 0) failed.push(scenario);
    done += 1;
    const minutes = ((Date.now() - began) / 60_000).toFixed(0);
    log(`${String(done)} of ${String(runs.length)} done after ${minutes} min, ${String(failed.length)} of them not exact`);
  };

  const queue = runs.filter(({ quiet }) => quiet !== true);
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await runOne(next);
  };
  await Promise.all(Array.from({ length: jobs }, work));
  for (const run of runs.filter(({ quiet }) => quiet === true)) await runOne(run);
  return failed;
}

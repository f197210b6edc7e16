import os from 'node:os';
import path from 'node:path';
import type { Part, Stage } from './parts.ts';
import { filesOf } from './parts.ts';
import { flakyLine, failureText, slowestFiles, slowestTests, sums } from './report.ts';
import { jobsOf, type Job, type PartOptions } from './run-part.ts';
import { MOST_FLAKY, Results, verdict, type Flaky, type Result } from './results.ts';
import { KeptTimes } from './kept-times.ts';

/** Parts that compute run so many at a time, however many cores there are. */
const MOST_AT_ONCE = 4;
/** With failures in more files than these a run is red, and none of them runs once more. */
const MOST_FILES_AGAIN = 6;
/** A broker of a test lives for seconds: its optimizing compiler would take as much CPU as all the rest of it. */
const JAVA_OPTIONS = '-XX:TieredStopAtLevel=1';

export type RunOptions = {
  readonly root: string;
  readonly stages: readonly Stage[];
  /** Long tests at their full extent, and all stages whatever fails. */
  readonly isWhole: boolean;
  readonly log: (line: string) => void;
};

/** Runs the stages; true where all of it is good. A test that fails runs once more, its file alone, at the end of its stage. */
export async function runStages({ root, stages, isWhole, log }: RunOptions): Promise<boolean> {
  const began = Date.now();
  const results = new Results();
  const times = new KeptTimes(root);
  const javaOptions = [process.env['JAVA_TOOL_OPTIONS'], JAVA_OPTIONS].filter(Boolean).join(' ');
  // TEST_ALL is read by test/extent.ts; the processes load the same modules, which are compiled once
  const compiled = path.join(root, '.cache', 'logweir', 'compiled');
  const env = {
    NODE_COMPILE_CACHE: compiled,
    ...process.env,
    FORCE_COLOR: '0',
    TEST_ALL: isWhole ? '1' : '0',
    JAVA_TOOL_OPTIONS: javaOptions,
  };
  const options: PartOptions = { root, env, log, results, times, onOutput: (text) => void process.stdout.write(text) };
  const flaky: Flaky[] = [];
  const failed: Result[] = [];
  let isGreen = true;
  for (const stage of stages) {
    const before = results.failed.length;
    await runStage(stage, options);
    const found = await judged(results.failed.slice(before), stage, options, flaky.length);
    flaky.push(...found.flaky);
    failed.push(...found.failed);
    isGreen &&= found.isGreen;
    if (!isGreen && !isWhole) {
      const left = stages.slice(stages.indexOf(stage) + 1).map(({ name }) => name);
      if (left.length > 0) log(`\n${stage.name} failed, so these did not run: ${left.join(', ')}`);
      break;
    }
  }
  times.save();
  if (failed.length > 0) log(`\nWhat failed:\n${failed.map(failureText).join('\n')}`);
  if (results.times.length > 1) log(`\n${slowestFiles(results.times)}`);
  const slowest = slowestTests(results.tests);
  if (slowest !== '') log(`\n${slowest}`);
  if (flaky.length > 0) log(`\n${flaky.map(flakyLine).join('\n')}`);
  if (flaky.length > MOST_FLAKY) log(`More than ${String(MOST_FLAKY)} tests passed only alone: that is a fault.`);
  log(`\nall together: ${secondsSince(began)}\n\n${sums(results, isGreen ? flaky.length : 0)}`);
  return isGreen && results.count('passed') + flaky.length > 0;
}

async function runStage({ name, parts, more = 0 }: Stage, options: PartOptions): Promise<void> {
  const { log, results } = options;
  log(`\n== ${name}`);
  const began = Date.now();
  const [passed, failures] = [results.count('passed'), results.failed.length];
  const waiting = parts.flatMap((part) => jobsOf(part, options));
  const runNext = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await runJob(job, log);
  };
  const length = Math.min(Math.max(os.availableParallelism(), 2), MOST_AT_ONCE) + more;
  await Promise.all(Array.from({ length }, runNext));
  log(
    `== ${name}: ${String(results.count('passed') - passed)} passed, ${String(results.failed.length - failures)} failed, ${secondsSince(began)}`,
  );
}

async function runJob({ name, run }: Job, log: (line: string) => void): Promise<void> {
  const began = Date.now();
  await run();
  log(`-- ${name}: ${secondsSince(began)}`);
}

/** What the failures of a stage mean: the files that have them run once more, each alone. */
async function judged(
  failed: readonly Result[],
  { parts }: Stage,
  options: PartOptions,
  flakyBefore: number,
): Promise<ReturnType<typeof verdict>> {
  const again = new Results();
  const files = [...new Set(failed.map(({ file }) => file))];
  const partOf = (file: string): Part | undefined => parts.find((part) => filesOf(part, options.root).includes(file));
  if (files.length <= MOST_FILES_AGAIN)
    for (const file of files) {
      const part = partOf(file);
      if (part === undefined) continue;
      options.log(`once more, alone: ${file}`);
      for (const { run } of jobsOf({ ...part, files: [file] }, { ...options, results: again })) await run();
    }
  return verdict(failed, again, flakyBefore);
}

const secondsSince = (time: number): string => `${((Date.now() - time) / 1000).toFixed(1)} s`;

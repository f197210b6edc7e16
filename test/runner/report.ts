import path from 'node:path';
import type { FileTime, Flaky, Result, Results } from './results.ts';

const SLOWEST = 30;
const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** The files that took longest: seconds, and the CPU time of all processes that their tests have started. */
export function slowestFiles(times: readonly FileTime[]): string {
  const byFile = new Map<string, { ms: number; cpuMs: number }>();
  for (const { file, ms, cpuMs } of times) {
    const sum = byFile.get(file) ?? { ms: 0, cpuMs: 0 };
    byFile.set(file, { ms: sum.ms + ms, cpuMs: sum.cpuMs + cpuMs });
  }
  const rows = [...byFile].sort(([, a], [, b]) => b.ms - a.ms).slice(0, SLOWEST);
  const lines = rows.map(([file, { ms, cpuMs }]) => `${seconds(ms).padStart(7)} ${seconds(cpuMs).padStart(7)}  ${file}`);
  return [`The slowest files: seconds, CPU seconds of all that they have started`, ...lines].join('\n');
}

/** A test that took less is not named. */
const NAMED_TEST_MS = 5000;

/** The tests that took longest, or nothing where none took long: seconds. */
export function slowestTests(tests: readonly Result[]): string {
  const rows = tests.filter(({ ms }) => ms >= NAMED_TEST_MS).sort((a, b) => b.ms - a.ms);
  const lines = rows.slice(0, SLOWEST).map(({ file, title, ms }) => `${seconds(ms).padStart(7)}  ${path.basename(file)}: ${title}`);
  return lines.length === 0 ? '' : ['The slowest tests: seconds', ...lines].join('\n');
}

/** A line for a test that passed only alone, with what its two runs differed in. */
export function flakyLine({ first, again }: Flaky): string {
  const run = ({ ms, load }: Result): string => `${seconds(ms)} s at load ${load.toFixed(1)}`;
  const [reason = ''] = (first.error ?? '').split('\n');
  return `flaky: ${first.file}: ${first.title} (failed after ${run(first)}, passed alone after ${run(again)}; ${reason})`;
}

/** A failure as a person reads it. */
export const failureText = ({ file, title, error = '' }: Result): string => `✖ ${file}: ${title}\n${error.replace(/^/gm, '    ')}`;

/** The closing line. */
export function sums(results: Results, flaky: number): string {
  const [passed, failed, skipped] = [results.count('passed') + flaky, results.count('failed') - flaky, results.count('skipped')];
  return `${String(passed)} passed, ${String(failed)} failed${skipped > 0 ? `, ${String(skipped)} skipped` : ''}`;
}

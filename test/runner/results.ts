import os from 'node:os';
import type { Message, Outcome } from './messages.ts';

/** A test that has run. `load`: of the machine in the minute before it ended. */
export type Result = {
  readonly file: string;
  readonly title: string;
  readonly outcome: Outcome;
  readonly ms: number;
  readonly load: number;
  readonly error?: string;
};

/** What a file took: of its process, in which what it starts does not count. */
export type FileTime = { readonly file: string; readonly ms: number; readonly cpuMs: number };

/** What several processes have reported. */
export class Results {
  readonly tests: Result[] = [];
  readonly times: FileTime[] = [];

  /** Takes what a process reports. */
  take(message: Message, load = os.loadavg()[0] ?? 0): void {
    if (message.kind === 'test') {
      const { file, title, outcome, ms, error } = message;
      this.tests.push({ file, title, outcome, ms, load, ...(error === undefined ? {} : { error }) });
    }
    if (message.kind === 'ended') this.times.push({ file: message.file, ms: message.ms, cpuMs: message.cpuMs });
  }

  /** Something that is no test and went wrong. */
  fail(file: string, title: string, error: string): void {
    this.tests.push({ file, title, outcome: 'failed', ms: 0, load: os.loadavg()[0] ?? 0, error });
  }

  get failed(): readonly Result[] {
    return this.tests.filter(({ outcome }) => outcome === 'failed');
  }

  count(outcome: Outcome): number {
    return this.tests.filter((test) => test.outcome === outcome).length;
  }
}

/** More tests than these that pass only alone are no accident. */
export const MOST_FLAKY = 3;

/** A test that failed, and passed when its file ran once more, alone. */
export type Flaky = { readonly first: Result; readonly again: Result };

export type Verdict = {
  readonly flaky: readonly Flaky[];
  /** Failed twice, or cannot run once more. */
  readonly failed: readonly Result[];
  readonly isGreen: boolean;
};

/** What failures mean once the files that have them have run once more; `flakyBefore`: how many there were in other stages. */
export function verdict(failed: readonly Result[], again: Results, flakyBefore = 0): Verdict {
  const flaky: Flaky[] = [];
  const twice: Result[] = [];
  for (const first of failed) {
    const second = repeated(first, again);
    if (second === null) twice.push(first);
    else flaky.push({ first, again: second });
  }
  return { flaky, failed: twice, isGreen: twice.length === 0 && flaky.length + flakyBefore <= MOST_FLAKY };
}

/** The same test's second result where that is good; of a hook that failed: where nothing of its file failed and something passed. */
function repeated(first: Result, again: Results): Result | null {
  const ofFile = again.tests.filter(({ file }) => file === first.file);
  const same = ofFile.find(({ title }) => title === first.title);
  if (same !== undefined) return same.outcome === 'failed' ? null : same;
  const isHook = /"(?:before|after)(?: all| each)?" hook/.test(first.title);
  if (!isHook || ofFile.some(({ outcome }) => outcome === 'failed')) return null;
  return ofFile.find(({ outcome }) => outcome === 'passed') ?? null;
}

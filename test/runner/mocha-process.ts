// A process that runs batches of test files, one after the other, and reports each test to the runner: see test/runner/run.ts.
import Mocha from 'mocha';
import path from 'node:path';
import { endAll } from '../at-end.ts';
import { failed } from '../on-failure.ts';
import type { Batch, Message } from './messages.ts';
import { treeCpuMs } from './tree-cpu.ts';

/** Files are relative to it. */
const root = process.cwd();

/** Sends what happens; what was printed by tests stays as it is. */
class Reporter extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { constants } = Mocha.Runner;
    const begun = new Map<Mocha.Suite, { readonly at: number; readonly cpu: number }>();
    const report = (test: Mocha.Runnable, outcome: 'passed' | 'failed' | 'skipped', error?: Error): void =>
      send({
        ...{ kind: 'test', file: fileOf(test), title: test.fullTitle(), outcome, ms: test.duration ?? 0 },
        ...(error === undefined ? {} : { error: textOf(error) }),
      });
    runner.on(constants.EVENT_SUITE_BEGIN, (suite) => {
      if (suite.parent?.root !== true) return;
      begun.set(suite, { at: Date.now(), cpu: treeCpuMs() });
      send({ kind: 'begun', file: relative(suite.file) });
    });
    runner.on(constants.EVENT_SUITE_END, (suite) => {
      const start = begun.get(suite);
      if (start !== undefined)
        send({ kind: 'ended', file: relative(suite.file), ms: Date.now() - start.at, cpuMs: treeCpuMs() - start.cpu });
    });
    runner.on(constants.EVENT_TEST_PASS, (test) => report(test, 'passed'));
    runner.on(constants.EVENT_TEST_PENDING, (test) => report(test, 'skipped'));
    // also of hooks, whose title says which test they were for
    runner.on(constants.EVENT_TEST_FAIL, (test: Mocha.Runnable, error: Error) => {
      report(test, 'failed', error);
      failed(test.duration ?? 0);
    });
  }
}

function fileOf(test: Mocha.Runnable): string {
  for (let suite = test.parent; suite !== undefined; suite = suite.parent) if (suite.file !== undefined) return relative(suite.file);
  return '';
}

const relative = (file: string | undefined): string => (file === undefined ? '' : path.relative(root, file));

/** What mocha prints of a failure: the message, the difference, the stack. */
function textOf(error: Error & { readonly expected?: unknown; readonly actual?: unknown; readonly showDiff?: boolean }): string {
  const text = error.stack ?? String(error);
  const cause = error.cause instanceof Error ? `\nCause: ${error.cause.stack ?? error.cause.message}` : '';
  if (error.showDiff !== true || error.expected === undefined) return text + cause;
  const shown = [error.actual, error.expected].map((value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
  return `${text}${cause}\n${Mocha.reporters.Base.generateDiff(shown[0] ?? '', shown[1] ?? '')}`;
}

function send(message: Message): void {
  process.send?.(message);
}

// a runner that is killed cannot end what it has started
process.once('disconnect', () => process.exit(1));

/** A Mocha for each batch: what modules hold is kept from one to the next, hooks outside of any suite are not. */
async function run({ files, timeoutMs }: Batch): Promise<void> {
  const mocha = new Mocha({ timeout: timeoutMs, reporter: Reporter, color: false });
  for (const file of files) mocha.addFile(path.join(root, file));
  await mocha.loadFilesAsync();
  await new Promise<number>((resolve) => mocha.run(resolve));
  mocha.dispose();
  send({ kind: 'done' });
}

process.on('message', (batch: Batch) => {
  // what tests have left running ends with this process
  void (batch.files.length > 0 ? run(batch) : endAll().then(() => process.exit(0)));
});

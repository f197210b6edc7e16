import { StartError } from '../compose/embedded/start-error.ts';

/** A Ctrl-C under npm comes twice, from the terminal and from npm: within this time it counts as one. */
const ONE_SIGNAL_MS = 500;

/** What is started and stopped: a Supervisor. */
export type Stoppable = {
  /** Resolves with the line that reports that all is ready. */
  start(): Promise<string>;
  stop(): Promise<void>;
  killAll(): void;
};

/** Prints a progress line on standard error. */
export function log(line: string): void {
  process.stderr.write(`logweir: ${line}\n`);
}

/**
 * Runs a supervisor until SIGINT, SIGTERM or SIGHUP and ends the process: with 0 after a stop in order, with 1 when
 * the start failed. A second signal ends everything at once. `parent` is the process that this one was started by.
 */
export async function runInForeground(create: () => Stoppable, parent = process.ppid): Promise<void> {
  // The reader of these lines may have exited; the service stays.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  try {
    const supervisor = create();
    const isStopping = stopOnSignal(supervisor, parent);
    const line = await supervisor.start().catch((error: unknown) => {
      if (!isStopping()) throw error; // otherwise the stop has interrupted the start
    });
    if (line !== undefined) process.stdout.write(`${line}\n`);
  } catch (error) {
    fail(error);
  }
}

function stopOnSignal(supervisor: Stoppable, parent: number): () => boolean {
  let stoppingSince = 0;
  const stop = (): void => {
    if (stoppingSince === 0) {
      stoppingSince = Date.now();
      log('stopping …');
      supervisor.stop().then(() => process.exit(0), fail);
    } else if (Date.now() - stoppingSince > ONE_SIGNAL_MS) supervisor.killAll();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  if (process.env['npm_lifecycle_event'] !== undefined) onParentExit(parent, stop);
  return () => stoppingSince > 0;
}

/** npm that is killed cannot pass that on; without this the service would never stop. */
function onParentExit(parent: number, stop: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, 1000);
  timer.unref();
}

/** Prints what went wrong and exits: a sentence for what an operator can fix, a stack for a bug. */
function fail(error: unknown): void {
  const text = error instanceof StartError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`logweir: ${String(text)}\n`, () => process.exit(1));
}

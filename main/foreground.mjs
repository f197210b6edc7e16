import { StartError } from '../compose/embedded/start-error.mjs';

/** A Ctrl-C under npm comes twice, from the terminal and from npm: within this time it counts as one. */
const ONE_SIGNAL_MS = 500;

/**
 * Prints a progress line on standard error.
 * @param {string} line
 */
export function log(line) {
  process.stderr.write(`logweir: ${line}\n`);
}

/**
 * Runs a supervisor until SIGINT, SIGTERM or SIGHUP and ends the process: with 0 after a stop in order, with 1 when
 * the start failed. A second signal ends everything at once.
 * @param {() => import('./supervisor.mjs').Supervisor} create
 */
export async function runInForeground(create) {
  // Whoever read our lines may have gone; the service stays.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  try {
    const supervisor = create();
    const isStopping = stopOnSignal(supervisor);
    const line = await supervisor.start().catch((error) => {
      if (!isStopping()) throw error; // otherwise the stop has interrupted the start
    });
    if (line !== undefined) process.stdout.write(`${line}\n`);
  } catch (error) {
    fail(error);
  }
}

/** @param {import('./supervisor.mjs').Supervisor} supervisor */
function stopOnSignal(supervisor) {
  let stoppingSince = 0;
  const stop = () => {
    if (stoppingSince === 0) {
      stoppingSince = Date.now();
      log('stopping …');
      supervisor.stop().then(() => process.exit(0), fail);
    } else if (Date.now() - stoppingSince > ONE_SIGNAL_MS) supervisor.killAll();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  if (process.env['npm_lifecycle_event'] !== undefined) onParentGone(stop);
  return () => stoppingSince > 0;
}

/** npm that is killed cannot pass that on; without it nobody would ever stop the service. */
function onParentGone(/** @type {() => void} */ stop) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, 1000);
  timer.unref();
}

/**
 * Says what went wrong and ends: a sentence for what an operator can mend, a stack for a bug.
 * @param {unknown} error
 */
function fail(error) {
  const text = error instanceof StartError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`logweir: ${text}\n`, () => process.exit(1));
}

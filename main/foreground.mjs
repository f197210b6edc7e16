import { StartError } from '../compose/embedded/start-error.mjs';

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
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) {
      supervisor.killAll();
      return;
    }
    isStopping = true;
    log('stopping …');
    supervisor.stop().then(() => process.exit(0), fail);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  return () => isStopping;
}

/**
 * Says what went wrong and ends: a sentence for what an operator can mend, a stack for a bug.
 * @param {unknown} error
 */
function fail(error) {
  const text = error instanceof StartError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`logweir: ${text}\n`, () => process.exit(1));
}

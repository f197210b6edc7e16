/** Prints the tests of a processor's contract as sentences: what holds, and of what does not the reason alone. */
export default class ContractReporter {
  /** @param {import('mocha').Runner} runner */
  constructor(runner) {
    const print = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);
    let failed = 0;
    runner.on('suite', ({ title }) => {
      if (title !== '') print(`${title[0]?.toUpperCase()}${title.slice(1)}`);
    });
    runner.on('pass', ({ title }) => print(`  holds: ${title}`));
    runner.on('fail', ({ title }, error) => {
      failed += 1;
      print(`  FAILS: ${title}\n         ${reasonOf(error)}`);
    });
    runner.once('end', () => print(failed === 0 ? 'The contract holds.' : `${failed} of its promises are broken.`));
  }
}

/** What was thrown first; the tool that found it adds how, which does not help here. */
function reasonOf(/** @type {Error} */ error) {
  /** @type {unknown} */
  let reason = error;
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  const { name, message } = /** @type {Error} */ (reason);
  return `${name}: ${message.split('\n')[0]?.slice(0, 300)}`;
}

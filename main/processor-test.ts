import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../pipeline/core/package-root.ts';

const USAGE = 'Usage: logweir processor test FILE';
const CONTRACT = ['contract.test.ts', 'merger-contract.test.ts'].map((file) => `test/pipeline/processors/${file}`);

/**
 * Holds the processor of a file, and its merger, to what hosts rest on (docs/extending/processors.md). Prints a sentence for each promise, and
 * what breaks it. Takes what follows `processor`, gives the exit code.
 */
export function processorCommand([verb, file, ...more]: readonly string[], log: (line: string) => void): Promise<number> {
  if (verb === '--help' || verb === '-h') {
    process.stdout.write(`${USAGE}\nHolds a processor to its contract: docs/extending/processors.md.\n`);
    return Promise.resolve(0);
  }
  if (verb !== 'test' || file === undefined || more.length > 0) {
    log(USAGE);
    return Promise.resolve(2);
  }
  const root = packageRoot();
  const subject = path.resolve(file);
  if (!existsSync(subject)) {
    log(`There is no file ${file}.`);
    return Promise.resolve(2);
  }
  if (existsSync(path.join(root, 'release.json'))) {
    log('The contract is run by the tests, which a release does not have: use a clone of the repository.');
    return Promise.resolve(1);
  }
  const mocha = [path.join(root, 'node_modules/mocha/bin/mocha.js'), '--reporter', path.join(root, 'main/contract-reporter.mjs'), '--exit'];
  const child = spawn(process.execPath, [...mocha, ...CONTRACT], {
    cwd: root,
    env: { ...process.env, LOGWEIR_PROCESSORS: subject },
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code === 0 ? 0 : 1)));
}

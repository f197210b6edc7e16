import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** A folder with the program as a commit has it, which the caller removes; null where this clone does not have the commit. */
export function earlierVersion(name: string): string | null {
  let commit: string;
  try {
    commit = git('rev-parse', '--verify', `${name}^{commit}`);
  } catch {
    console.log(`THIS CLONE HAS NO COMMIT ${name}: the upgrade from it is not tested.`);
    return null;
  }
  const clone = mkdtempSync(path.join(os.tmpdir(), 'logweir-before-'));
  git('clone', '--quiet', '--shared', '--no-checkout', root, clone);
  execFileSync('git', ['checkout', '--quiet', commit], { cwd: clone });
  return clone;
}

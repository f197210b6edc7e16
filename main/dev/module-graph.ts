import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A module that is loaded with this one: `from './x.js'`, `import './x.js'`. Not those that are loaded later by `import()`. */
const LOADED = /(?:\bfrom|^import) '(\.[^']+)'/gm;
/** A program that this module starts: its path from its own folder, as in `path.join(import.meta.dirname, 'worker', 'query-worker')`. */
const STARTED = /import\.meta\.dirname, ((?:(?:'[\w.-]+'|`[\w.-]+\$\{EXTENSION\}`)(?:, )?)+)\)/g;

/** The compiled modules that run where these do, in their own process or in one that it starts: paths, themselves included. */
export function modulesOf(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file) || !existsSync(file)) continue;
    found.add(file);
    const text = readFileSync(file, 'utf8');
    const folder = path.dirname(file);
    for (const [, name = ''] of text.matchAll(LOADED)) waiting.push(path.join(folder, name));
    for (const [, parts = ''] of text.matchAll(STARTED)) {
      const names = [...parts.matchAll(/'([\w.-]+)'|`([\w.-]+)\$/g)].map(([, whole, begin]) => whole ?? begin ?? '');
      waiting.push(path.join(folder, ...names).replace(/(?:\.js)?$/, '.js'));
    }
  }
  return found;
}

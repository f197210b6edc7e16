// Compiles the sources into dist/, as a program of its own: the types are taken off, so that each line and column stays where it was, and imports
// name what the files become. Whether the types are right the checks tell (`npm run types`). Node's built-ins alone.
import { globSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { COMPILED } from './install.mjs';

/** What WebAssembly is made of. */
const LEFT_OUT = ['pipeline/wasm/assembly'];

/** `from './x.ts'`, `import './x.ts'`, `import('./x.ts')`. */
const IMPORT = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.{1,2}\/[^'"\n]*)\.ts\2/g;

/**
 * Writes each source's JavaScript that is not of the source as it is now, and the modules that are JavaScript already.
 * Throws an Error that names the file whose syntax is wrong.
 * @param {string} root the folder of package.json
 */
export function compile(root) {
  const left = LEFT_OUT.map((folder) => path.normalize(folder) + path.sep);
  for (const folder of COMPILED)
    for (const name of globSync(`${folder}/**/*.{ts,mjs}`, { cwd: root })) {
      if (name.endsWith('.d.ts') || left.some((start) => name.startsWith(start))) continue;
      const source = path.join(root, name);
      const target = path.join(root, 'dist', name.replace(/\.ts$/, '.js'));
      const { atime, mtime } = statSync(source);
      if (statSync(target, { throwIfNoEntry: false })?.mtime.getTime() === mtime.getTime()) continue;
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, compiled(readFileSync(source, 'utf8'), name));
      utimesSync(target, atime, mtime);
    }
}

/** @param {string} text @param {string} name */
function compiled(text, name) {
  if (name.endsWith('.mjs')) return text;
  try {
    return stripTypeScriptTypes(text).replace(IMPORT, '$1$2$3.js$2');
  } catch (error) {
    throw new Error(`${name}: error ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

if (process.argv[1] === import.meta.filename) {
  try {
    compile(path.resolve(import.meta.dirname, '..'));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

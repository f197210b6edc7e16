// Compiles pipeline/wasm/assembly to dist/pipeline/wasm/logweir.wasm: `npm run build`, a start, and the tests' setup.
// Plain JavaScript, with Node's built-ins alone: it runs before anything is compiled.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/** Pages of 64 KiB: what `assembly/memory.ts` lays out. */
const PAGES = '64';
const FLAGS = [
  ...['-O3', '--noAssert', '--runtime', 'stub', '--use', 'abort=', '--enable', 'simd'],
  ...['--initialMemory', PAGES, '--maximumMemory', PAGES],
];

/**
 * Compiles the module unless the sources are those of the last time. Processes that do it at once do not disturb each other.
 * @param {{ root: string, signal?: AbortSignal | undefined }} options `root`: the folder of package.json
 */
export async function ensureWasm({ root, signal }) {
  const sources = path.join(root, 'pipeline', 'wasm', 'assembly');
  const folder = path.join(root, 'dist', 'pipeline', 'wasm');
  const file = path.join(folder, 'logweir.wasm');
  const stamp = path.join(folder, '.built-from');
  const compiler = path.join(root, 'node_modules', 'assemblyscript');
  const wanted = fingerprint(sources, compiler);
  if (existsSync(file) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  mkdirSync(folder, { recursive: true });
  const fresh = path.join(folder, `.${process.pid}.wasm`);
  const args = [path.join(compiler, 'bin', 'asc.js'), path.join(sources, 'index.ts'), ...FLAGS, '-o', fresh];
  await promisify(execFile)(process.execPath, args, { cwd: root, signal }).catch(
    (/** @type {{ stdout: string, stderr: string }} */ error) => {
      throw new Error(`The WebAssembly module could not be compiled:\n${(error.stdout + error.stderr).trim()}`, { cause: error });
    },
  );
  renameSync(fresh, file);
  writeFileSync(`${fresh}.stamp`, wanted);
  renameSync(`${fresh}.stamp`, stamp);
}

/** @param {string} sources @param {string} compiler */
function fingerprint(sources, compiler) {
  const hash = createHash('sha256').update(FLAGS.join(' '));
  const files = readdirSync(sources).sort();
  for (const file of [...files.map((name) => path.join(sources, name)), path.join(compiler, 'package.json')])
    hash.update(readFileSync(file));
  return hash.digest('hex');
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename)
  await ensureWasm({ root: path.resolve(import.meta.dirname, '..') });

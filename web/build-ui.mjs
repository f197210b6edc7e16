// Builds web/ui into dist/web/ui, with names by content, and each file compressed beforehand: `npm run build`, `npm start` of a clone.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = path.resolve(import.meta.dirname, '..');
/** The parser of LogsQL imports these; what the browser needs of them is in stand-ins. */
const STAND_INS = { re2js: 're2js.ts', 'xxhash-wasm': 'xxhash.ts', 'node:crypto': 'crypto.ts' };
/** Redoc shows its maker's sign from a host of its own: an empty picture is in its place. */
const SIGN = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
const NO_PICTURE = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
const COMPRESSED = /\.(?:js|css|html|svg)$/;

/**
 * Writes the pages; returns the folder.
 * @param {string} outDir where to
 * @param {{ hasComponents?: boolean }} [options] `hasComponents`: with the page that shows all components, which no release has
 */
export async function buildUi(outDir = path.join(root, 'dist', 'web', 'ui'), { hasComponents = false } = {}) {
  const { build } = await import('vite');
  const folder = path.join(root, 'web', 'ui');
  await build({
    ...{ root: folder, base: '/ui/', configFile: false, logLevel: 'warn', envDir: false, publicDir: false },
    cacheDir: path.join(root, '.cache', 'logweir', 'vite'),
    define: { WITH_COMPONENTS: String(hasComponents) },
    resolve: {
      alias: Object.entries(STAND_INS).map(([find, file]) => ({ find, replacement: path.join(folder, 'editor', 'stand-ins', file) })),
    },
    build: {
      ...{ outDir, emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: false, manifest: 'manifest.json' },
      modulePreload: { polyfill: false },
      rolldownOptions: { input: ['index.html', 'api/index.html'].map((name) => path.join(folder, name)) },
    },
  });
  withoutSign(outDir);
  for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
    if (!COMPRESSED.test(name)) continue;
    const file = path.join(outDir, name);
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
  }
  return outDir;
}

/** @param {string} outDir */
function withoutSign(outDir) {
  const name = readdirSync(path.join(outDir, 'assets')).find((one) => one.startsWith('redoc.'));
  if (name === undefined) throw new Error('Redoc is not among the assets.');
  const file = path.join(outDir, 'assets', name);
  const script = readFileSync(file, 'utf8');
  if (!script.includes(SIGN)) throw new Error('Redoc has another sign than it had.');
  writeFileSync(file, script.replaceAll(SIGN, NO_PICTURE));
}

if (process.argv[1] === import.meta.filename)
  console.log(await buildUi(undefined, { hasComponents: process.argv.includes('--components') }));

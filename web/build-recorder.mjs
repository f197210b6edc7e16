// Bundles web/replay-recorder into one script: `npm run build:recorder`, and tests of it.
import { build } from 'esbuild';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

/**
 * Writes the recorder as one minified script; returns where it lies.
 * @param {string} folder where to
 */
export async function buildRecorder(folder = path.join(root, 'dist', 'web')) {
  mkdirSync(folder, { recursive: true });
  const outfile = path.join(folder, 'replay-recorder.js');
  await build({
    entryPoints: [path.join(root, 'web', 'replay-recorder', 'script.ts')],
    ...{ outfile, bundle: true, minify: true, format: 'iife', target: 'es2022', legalComments: 'none', logLevel: 'warning' },
  });
  return outfile;
}

if (process.argv[1] === import.meta.filename) console.log(await buildRecorder());

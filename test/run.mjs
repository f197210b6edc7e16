// `npm test`: all checks and tests, with samples of the long ones; with `--all` (`npm run test:all`) at their full extent; with names
// only what belongs to them: a part, a file, a room, words of a promise. Installs what is missing; needs nothing else.
import path from 'node:path';
import { ensureBuilt, ensureInstalled } from '../main/install.mjs';
import { assertCanInstall, handOver } from '../main/runtime.mjs';

const root = path.resolve(import.meta.dirname, '..');
const log = (line) => process.stdout.write(`${line}\n`);
const args = process.argv.slice(2);

assertCanInstall();
await ensureInstalled({ root, log });
await handOver({ root, program: import.meta.filename, args });
const { ensureWasm } = await import('../main/build-wasm.mjs');
await ensureWasm({ root });
const [{ runStages }, { selected }] = [await import('./runner/run.ts'), await import('./runner/select.ts')];
const isWhole = args.includes('--all');
const names = args.filter((word) => word !== '--all');
let stages;
try {
  stages = selected(names, root, isWhole);
} catch (error) {
  log(error.message);
  process.exit(2);
}
if (stages.some(({ parts }) => parts.some(({ needsBuild }) => needsBuild))) await ensureBuilt({ root, log });
process.exit((await runStages({ root, stages, isWhole, log })) ? 0 : 1);

// `npm run build`: what a start does before it starts, for a clone: packages, the compiled program, the pages.
import path from 'node:path';
import { ensureBuilt, ensureInstalled } from './install.mjs';
import { assertCanInstall, handOver } from './runtime.mjs';

const root = path.resolve(import.meta.dirname, '..');
const log = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

assertCanInstall();
await ensureInstalled({ root, log });
await handOver({ root, program: import.meta.filename, args: process.argv.slice(2) });
await ensureBuilt({ root, log });

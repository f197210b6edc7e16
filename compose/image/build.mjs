// Run by the Dockerfile: compiles the program, and puts what a running service needs into a folder, as `npm run release` does, with its packages.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const [out = ''] = process.argv.slice(2);
if (out === '') throw new Error('build.mjs needs the folder to fill.');

/** Rooms of the house that run; sources go along for processors and detectors of others, which import from them. */
const ROOMS = ['api', 'cli', 'compose', 'examples', 'logsql', 'main', 'pipeline', 'promql', 'sinks', 'web', 'dist'];
const FILES = ['package.json', 'package-lock.json', 'LICENSE', 'README.md'];
/** The embedded ClickHouse: a container has one of its own. */
const LEFT_OUT = /^node_modules\/@chdb\//;
/** Of the package of Node the program alone. */
const NODE = /^node_modules\/node-linux-[a-z0-9]+$/;

const lock = readFileSync(path.join(root, 'package-lock.json'));
/** @type {{ packages: Record<string, { dev?: boolean }> }} */
const { packages } = JSON.parse(lock.toString());

execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit' });
mkdirSync(out, { recursive: true });
for (const file of FILES) cpSync(path.join(root, file), path.join(out, file));
for (const room of ROOMS)
  cpSync(path.join(root, room), path.join(out, room), {
    recursive: true,
    filter: (file) => !/\.logweir-built$|\/node_modules(?:\/|$)/.test(file),
  });
for (const [at, { dev }] of Object.entries(packages)) {
  const from = path.join(root, at);
  if (at === '' || dev === true || LEFT_OUT.test(at) || !existsSync(from)) continue;
  if (NODE.test(at)) {
    for (const part of ['package.json', 'LICENSE', 'bin/node']) cpSync(path.join(from, part), path.join(out, at, part));
    mkdirSync(path.join(out, 'bin'), { recursive: true });
    symlinkSync(path.join('..', at, 'bin', 'node'), path.join(out, 'bin', 'node'));
    continue;
  }
  cpSync(from, path.join(out, at), {
    recursive: true,
    filter: (file) => file === from || !path.relative(from, file).startsWith('node_modules'),
  });
}
symlinkSync('../cli/logweir.mjs', path.join(out, 'bin', 'logweir'));
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
writeFileSync(path.join(out, 'release.json'), `${JSON.stringify({ version })}\n`);
// nothing is to be installed at the start
writeFileSync(path.join(out, 'node_modules', '.logweir-installed'), createHash('sha256').update(lock).digest('hex'));

// `npm run release`: builds release/logweir-VERSION.tar.gz, which starts on a machine with Node, without a compiler.
// It holds the compiled program, its sources, the licences of the packages that it needs, and a list of them (CycloneDX).
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ensureBuilt, ensureInstalled } from '../install.mjs';
import { assertCanInstall, handOver } from '../runtime.mjs';
import { runtimePackages, thirdPartyNotices } from './notices.mjs';

const root = path.resolve(import.meta.dirname, '../..');
/** What only those need who change the program. */
const LEFT_OUT = /^(?:test|bench|lint|\.ci|\.github)\/|^(?:\.ox|\.mocharc|\.gitignore|tsconfig)/;

const log = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);
const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Builds the tarball into `outDir`, and gives its path. */
export async function release(outDir = path.join(root, 'release')) {
  await ensureInstalled({ root, log });
  await ensureBuilt({ root, log });
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const name = `logweir-${version}`;
  const folder = path.join(outDir, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = git('ls-files').split('\n').filter((file) => !LEFT_OUT.test(file)); // prettier-ignore
  for (const file of files) cpSync(path.join(root, file), path.join(folder, file));
  cpSync(path.join(root, 'dist'), path.join(folder, 'dist'), {
    recursive: true,
    filter: (file) => !/\.logweir-built$/.test(file),
  });
  const packages = runtimePackages(root);
  writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.md'), thirdPartyNotices(packages));
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  writeFileSync(path.join(folder, 'release.json'), `${JSON.stringify({ version, commit: git('rev-parse', 'HEAD') + (isChanged ? ' and changes' : '') })}\n`); // prettier-ignore
  writeFileSync(path.join(folder, 'sbom.cdx.json'), billOfMaterials(folder, version, packages));
  const file = path.join(outDir, `${name}.tar.gz`);
  execFileSync('tar', ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', '-czf', file, '-C', outDir, name]);
  rmSync(folder, { recursive: true });
  return { file, packages: packages.length };
}

/**
 * The packages that a running service needs, as CycloneDX. npm writes those of development too: its `--omit dev` leaves out what both need.
 * @param {string} folder
 * @param {string} version
 * @param {readonly import('./notices.mjs').RuntimePackage[]} packages
 */
function billOfMaterials(folder, version, packages) {
  const flags = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const bill = JSON.parse(execFileSync('npm', flags, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
  Object.assign(bill.metadata.component, { name: 'logweir', version });
  const wanted = new Set(packages.map((one) => `${one.name}@${one.version}`));
  const nameOf = (/** @type {{ group?: string, name: string, version: string }} */ { group, name, version: own }) =>
    `${group === undefined ? '' : `${group}/`}${name}@${own}`;
  bill.components = bill.components.filter((/** @type {any} */ component) => wanted.has(nameOf(component)));
  const refs = new Set([
    bill.metadata.component['bom-ref'],
    ...bill.components.map((/** @type {any} */ component) => component['bom-ref']),
  ]);
  bill.dependencies = bill.dependencies
    .filter((/** @type {any} */ { ref }) => refs.has(ref))
    .map((/** @type {any} */ { ref, dependsOn = [] }) => ({
      ref,
      dependsOn: dependsOn.filter((/** @type {string} */ to) => refs.has(to)),
    }));
  return `${JSON.stringify(bill, null, 2)}\n`;
}

if (process.argv[1] === import.meta.filename) {
  assertCanInstall();
  await ensureInstalled({ root, log });
  await handOver({ root, program: import.meta.filename, args: process.argv.slice(2) });
  const { file, packages } = await release();
  const bytes = readFileSync(file);
  const sum = createHash('sha256').update(bytes).digest('hex');
  log(`${path.relative(process.cwd(), file)}: ${(bytes.length / 1e6).toFixed(1)} MB, ${String(packages)} packages, sha256 ${sum}`);
}

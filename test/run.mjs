// `npm test`: lint, types, unit, contract and end-to-end tests, and real shippers, with samples of the long ones; with `--all`
// (`npm run test:all`) at their full extent. Installs what is missing; needs nothing else.
import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertCanInstall, handOver } from '../main/runtime.mjs';
import { ensureBuilt, ensureInstalled } from '../main/install.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const log = (line) => process.stdout.write(`${line}\n`);
const bin = (...parts) => path.join(root, 'node_modules', ...parts);
const wanted = process.argv.slice(2).filter((word) => word !== '--all');
const isWhole = process.argv.includes('--all');

const endToEnd = (...files) => [bin('mocha/bin/mocha.js'), '--exit', '--timeout', '600000', ...files];

/** Each part runs in a process of its own. They begin in this order, some at the same time: what takes long does not come last. */
const PARTS = [
  {
    name: 'unit and contract',
    args: [bin('mocha/bin/mocha.js'), '--exit', 'test/!(e2e|browser|shippers)/**/*.test.ts'],
    mocha: true,
  },
  // in thirds, by their names, so that the longest part is no longer than the others together
  { name: 'end to end, a to f', args: endToEnd('test/e2e/[a-f]*.test.ts'), mocha: true, built: true },
  { name: 'lint', args: [bin('oxlint/bin/oxlint'), '.'] },
  { name: 'types', args: [bin('typescript/bin/tsc'), '-p', 'tsconfig.json'] },
  { name: 'format', args: [bin('oxfmt/bin/oxfmt'), '--check', '.'] },
  { name: 'end to end, m to z', args: endToEnd('test/e2e/[m-z]*.test.ts'), mocha: true, built: true },
  {
    name: 'delivery',
    args: endToEnd('test/e2e/delivery/**/*.test.ts', 'test/e2e/faults/three-brokers.e2e.test.ts'),
    mocha: true,
    built: true,
  },
  { name: 'end to end, g to l', args: endToEnd('test/e2e/[g-l]*.test.ts'), mocha: true, built: true },
  { name: 'faults', args: endToEnd('test/e2e/faults/!(three-brokers)*.test.ts'), mocha: true, built: true },
  {
    name: 'shippers',
    args: [bin('mocha/bin/mocha.js'), '--exit', 'test/shippers/**/*.test.ts'],
    mocha: true,
    built: true,
  },
];
/** As many as there are cores: a part with engines takes 1.2 of them, and next to more others what a test waits for comes too late. */
const AT_ONCE = Math.min(Math.max(os.availableParallelism(), 2), 4);
/** A broker of a test lives for seconds: its optimizing compiler would take as much CPU as all the rest of it. */
const JAVA_OPTIONS = [process.env.JAVA_TOOL_OPTIONS, '-XX:TieredStopAtLevel=1'].filter(Boolean).join(' ');

const began = Date.now();
const secondsSince = (time) => `${((Date.now() - time) / 1000).toFixed(1)} s`;
const totals = { passed: 0, failed: 0, skipped: 0 };
/** A line for each part that is over. */
const summary = [];
/** What failed, said once more at the end: the output of the parts is long. */
const failures = [];

/** Runs a part and adds up what it counted; a part without counts is one check. Its output is shown as it comes where it is alone, else at its end. */
async function runPart({ name, args, mocha = false }, isAlone) {
  log(isAlone ? `\n== ${name}` : `== ${name} begins`);
  const start = Date.now();
  const { code, output } = await run(args, isAlone);
  if (!isAlone) log(`\n== ${name}\n${output}`);
  const count = (word) => Number(new RegExp(`^\\s+(\\d+) ${word}`, 'm').exec(output)?.[1] ?? 0);
  const counted = mocha
    ? { passed: count('passing'), failed: count('failing'), skipped: count('pending') }
    : { passed: 0, failed: 0, skipped: 0 };
  // a part that failed without counting a failure (or without running a test) is a failure itself
  if (!mocha) counted[code === 0 ? 'passed' : 'failed'] = 1;
  else if ((code !== 0 && counted.failed === 0) || (code === 0 && counted.passed === 0)) counted.failed += 1;
  for (const key of Object.keys(totals)) totals[key] += counted[key];
  if (counted.failed > 0) failures.push(`== ${name}\n${failureOf(output)}`);
  summary.push(`${name}: ${inWords(counted)}, ${secondsSince(start)}`);
  log(`== ${summary.at(-1)}`);
}

/** What mocha says of the tests that failed; of another tool, or where mocha was cut off, the end of what it said. */
function failureOf(output) {
  const at = output.search(/^ +\d+ failing$/m);
  return at < 0 ? output.slice(-4000) : output.slice(at, at + 8000);
}

function inWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function run(args, isShown) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      // TEST_ALL is read by test/extent.ts
      env: { ...process.env, FORCE_COLOR: '0', TEST_ALL: isWhole ? '1' : '0', JAVA_TOOL_OPTIONS: JAVA_OPTIONS },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        if (isShown) process.stdout.write(chunk);
      });
    }
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

assertCanInstall();
await ensureInstalled({ root, log });
await handOver({ root, program: import.meta.filename, args: process.argv.slice(2) });
const isWanted = ({ name }) => wanted.length === 0 || wanted.includes(name.split(' ')[0]);
const waiting = PARTS.filter(isWanted);
const isAlone = waiting.length === 1;
if (waiting.some(({ built }) => built === true)) await ensureBuilt({ root, log });
const runOneByOne = async () => {
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) await runPart(part, isAlone);
};
await Promise.all(Array.from({ length: AT_ONCE }, runOneByOne));
if (failures.length > 0) log(`\nWhat failed:\n${failures.join('\n')}`);
log(`\n${summary.join('\n')}\nall together: ${secondsSince(began)}`);
log(`\n${inWords(totals)}`);
process.exit(totals.failed === 0 ? 0 : 1);

#!/usr/bin/env node
// The launcher of the command line: plain JavaScript, so that it works in a fresh clone. It belongs to no room of the
// house and reaches into two of them by address: main/ (plain too) and, once that is built, the compiled cli/.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const load = (/** @type {string} */ file) => import(new URL(`../${file}`, import.meta.url).href);
const log = (/** @type {string} */ line) => void process.stderr.write(`logweir: ${line}\n`);

// whoever reads the pipe may have seen enough (`| head`)
process.stdout.on('error', (/** @type {NodeJS.ErrnoException} */ error) => process.exit(error.code === 'EPIPE' ? 0 : 1));

async function main(/** @type {string[]} */ argv) {
  if (argv[0] === 'ps') {
    const { ps } = await load('main/ps.mjs');
    process.exitCode = ps(argv.slice(1));
    return;
  }
  if (argv[0] === 'processor') {
    const [{ processorCommand }, { ensureInstalled }] = await Promise.all([load('main/processor-test.mjs'), load('main/install.mjs')]);
    await ensureInstalled({ root, log });
    process.exitCode = await processorCommand(argv.slice(1), { root, log });
    return;
  }
  if (!existsSync(path.join(root, 'dist', 'cli', 'main.js'))) {
    const { ensureInstalled, ensureBuilt } = await load('main/install.mjs');
    await ensureInstalled({ root, log });
    await ensureBuilt({ root, log });
  }
  if (argv[0] === 'audit') {
    const [{ auditCommand }, { runAudit }] = await Promise.all([load('dist/cli/audit.js'), load('dist/main/audit.js')]);
    process.exitCode = await auditCommand(argv.slice(1), runAudit);
    return;
  }
  if (argv[0] === 'detector') {
    const [{ detectorCommand }, { holdDetectorFile }] = await Promise.all([
      load('dist/cli/detector/detector.js'),
      load('dist/main/detector-test.js'),
    ]);
    process.exitCode = await detectorCommand(argv.slice(1), holdDetectorFile);
    return;
  }
  if (argv[0] === 'topic') {
    const [{ topicCommand }, { readTopic }] = await Promise.all([load('dist/cli/topic.js'), load('dist/main/topic-read.js')]);
    process.exitCode = await topicCommand(argv.slice(1), readTopic);
    return;
  }
  const cli = await load('dist/cli/main.js');
  const code = await cli.main(argv);
  if (typeof code === 'number') process.exitCode = code;
}

main(process.argv.slice(2)).catch((error) => {
  log(error.name === 'StartError' ? error.message : (error.stack ?? String(error)));
  process.exitCode = 1;
});

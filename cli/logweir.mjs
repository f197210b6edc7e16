#!/usr/bin/env node
// The launcher of the command line: plain JavaScript, so that it works in a fresh clone, which it compiles. It belongs to no
// room of the house and reaches into two of them by address, once they are compiled: main/ and cli/.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
/** Control characters as escapes, as cli/output.ts has them: what npm or an engine answered is printed here too. */
const visible = (/** @type {string} */ text) =>
  // eslint-disable-next-line no-control-regex -- it is control characters that must not get out
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (char) =>
    char === '\r' ? '\\r' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
const log = (/** @type {string} */ line) => void process.stderr.write(`logweir: ${visible(line)}\n`);

/** Loads a part of the compiled program, which is compiled first where it is not there. */
async function load(/** @type {string} */ part) {
  const file = path.join(root, 'dist', part);
  const isBuilt = existsSync(file);
  const { assertCanInstall, handOver } = await import(new URL('../main/runtime.mjs', import.meta.url).href);
  const { ensureBuilt, ensureInstalled } = isBuilt ? {} : await import(new URL('../main/install.mjs', import.meta.url).href);
  assertCanInstall();
  if (!isBuilt) await ensureInstalled({ root, log });
  await handOver({ root, program: import.meta.filename, args: process.argv.slice(2) });
  if (!isBuilt) await ensureBuilt({ root, log });
  return import(pathToFileURL(file).href);
}

// the reader of the pipe may have closed it (`| head`)
process.stdout.on('error', (/** @type {NodeJS.ErrnoException} */ error) => process.exit(error.code === 'EPIPE' ? 0 : 1));

async function main(/** @type {string[]} */ argv) {
  if (argv[0] === 'ps') {
    const { ps } = await load('main/ps.js');
    process.exitCode = ps(argv.slice(1));
    return;
  }
  if (argv[0] === 'processor') {
    const { processorCommand } = await load('main/processor-test.js');
    process.exitCode = await processorCommand(argv.slice(1), log);
    return;
  }
  if (argv[0] === 'audit') {
    const [{ auditCommand }, { runAudit }] = [await load('cli/audit.js'), await load('main/audit.js')];
    process.exitCode = await auditCommand(argv.slice(1), runAudit);
    return;
  }
  if (argv[0] === 'detector') {
    const [{ detectorCommand }, { holdDetectorFile }] = [await load('cli/detector/detector.js'), await load('main/detector-test.js')];
    process.exitCode = await detectorCommand(argv.slice(1), holdDetectorFile);
    return;
  }
  if (argv[0] === 'topic') {
    const [{ topicCommand }, { readTopic }] = [await load('cli/topic.js'), await load('main/topic-read.js')];
    process.exitCode = await topicCommand(argv.slice(1), readTopic);
    return;
  }
  const cli = await load('cli/main.js');
  const code = await cli.main(argv);
  if (typeof code === 'number') process.exitCode = code;
}

main(process.argv.slice(2)).catch((error) => {
  log(['StartError', 'InstallError', 'RuntimeError'].includes(error.name) ? error.message : (error.stack ?? String(error)));
  process.exitCode = 1;
});

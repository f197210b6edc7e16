import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { StartError } from './start-error.mjs';

const MIN_JAVA = 17;
const MEND =
  'install Java 17 or newer and Maven (Debian: apt-get install openjdk-17-jre-headless maven), or name a Kafka cluster in LOGWEIR_KAFKA_BROKERS';
// Debian 13 has no Java 17 any more; its default is newer.
const JAVA_PACKAGES = ['openjdk-17-jre-headless', 'default-jre-headless'];

/**
 * Finds Java, and Maven where it is asked for. What is missing is installed with apt if that can be done.
 * @param {{ maven: boolean, log: (line: string) => void, signal?: AbortSignal | undefined }} options
 * @returns {Promise<{ java: string, maven: string }>} their full paths; `maven` is empty when it was not asked for
 */
export async function findJava({ maven, log, signal }) {
  if ((await usableJava(signal)) === null) await installJava(log, signal);
  if (maven && findProgram('mvn') === null) await installPackages(['maven'], log, signal);
  const java = await usableJava(signal);
  const mvn = findProgram('mvn');
  if (java === null || (maven && mvn === null)) throw new StartError(`The embedded Kafka needs Java and Maven: ${MEND}.`);
  return { java, maven: mvn ?? '' };
}

/**
 * Runs a program to its end and answers its exit code and what it printed.
 * @param {string} command @param {readonly string[]} args
 * @param {{ cwd?: string | undefined, env?: NodeJS.ProcessEnv | undefined, signal?: AbortSignal | undefined }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, { cwd, env, signal } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: env ?? process.env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (/** @type {Buffer} */ part) => (output = (output + part.toString()).slice(-65_536));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => resolve({ code: -1, output: output + error.message }));
    child.once('close', (code) => resolve({ code: code ?? -1, output }));
  });
}

/** The java of JAVA_HOME or of the PATH, if it is new enough. */
async function usableJava(/** @type {AbortSignal | undefined} */ signal) {
  const home = process.env['JAVA_HOME'];
  const candidates = [home === undefined ? null : path.join(home, 'bin', 'java'), findProgram('java')];
  for (const java of candidates) {
    if (java === null || !existsSync(java)) continue;
    const { code, output } = await run(java, ['-version'], { signal });
    const version = /version "(\d+)/.exec(output)?.[1];
    if (code === 0 && Number(version) >= MIN_JAVA) return java;
  }
  return null;
}

/** @param {(line: string) => void} log @param {AbortSignal | undefined} signal */
async function installJava(log, signal) {
  const errors = [];
  for (const name of JAVA_PACKAGES) {
    const fault = await installPackages([name], log, signal).then(
      () => null,
      (error) => error,
    );
    if (fault === null) return;
    errors.push(fault);
  }
  throw errors[0];
}

/** @param {readonly string[]} names @param {(line: string) => void} log @param {AbortSignal | undefined} signal */
async function installPackages(names, log, signal) {
  const apt = findProgram('apt-get');
  if (apt === null || process.getuid?.() !== 0) throw new StartError(`The embedded Kafka needs Java and Maven: ${MEND}.`);
  log(`installing ${names.join(' and ')} with apt …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=120'];
  await run(apt, [...wait, 'update'], { env, signal });
  const { code, output } = await run(apt, [...wait, 'install', '-y', ...names], { env, signal });
  if (code === 0) return;
  const reason = output.trimEnd().split('\n').at(-1) ?? '';
  throw new StartError(`apt-get could not install ${names.join(' and ')} (${reason}): ${MEND}.`);
}

/** @param {string} name @returns {string | null} */
export function findProgram(name) {
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

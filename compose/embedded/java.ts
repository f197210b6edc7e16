import { existsSync } from 'node:fs';
import path from 'node:path';
import { findProgram, run } from './run.ts';
import { StartError } from './start-error.ts';

const MIN_JAVA = 17;
const MEND =
  'install Java 17 or newer and Maven (Debian: apt-get install openjdk-17-jre-headless maven), or name a Kafka cluster in LOGWEIR_KAFKA_BROKERS';
// Debian 13 has no Java 17 any more; its default is newer.
const JAVA_PACKAGES = ['openjdk-17-jre-headless', 'default-jre-headless'];

export type JavaOptions = {
  readonly maven: boolean;
  /** Takes progress lines. */
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/** Finds Java, and Maven where it is asked for: their full paths. What is missing is installed with apt if that can be done. */
export async function findJava({ maven, log, signal }: JavaOptions): Promise<{ readonly java: string; readonly maven: string }> {
  if ((await usableJava(signal)) === null) await installJava(log, signal);
  if (maven && findProgram('mvn') === null) await installPackages(['maven'], log, signal);
  const java = await usableJava(signal);
  const mvn = findProgram('mvn');
  if (java === null || (maven && mvn === null)) throw new StartError(`The embedded Kafka needs Java and Maven: ${MEND}.`);
  return { java, maven: mvn ?? '' };
}

/** The java of JAVA_HOME or of the PATH, if it is new enough. */
async function usableJava(signal: AbortSignal | undefined): Promise<string | null> {
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

async function installJava(log: (line: string) => void, signal: AbortSignal | undefined): Promise<void> {
  const faults: unknown[] = [];
  for (const name of JAVA_PACKAGES) {
    try {
      await installPackages([name], log, signal);
      return;
    } catch (fault) {
      faults.push(fault);
    }
  }
  throw faults[0];
}

async function installPackages(names: readonly string[], log: (line: string) => void, signal: AbortSignal | undefined): Promise<void> {
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

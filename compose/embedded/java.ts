import { existsSync } from 'node:fs';
import path from 'node:path';
import { findProgram, run } from './run.ts';
import { StartError } from './start-error.ts';

const MIN_JAVA = 17;
// Debian 13 has no Java 17 any more; its default is newer.
const JAVA_PACKAGES = ['openjdk-17-jre-headless', 'default-jre-headless'];

export type JavaOptions = {
  /** Maven is needed too. */
  readonly maven: boolean;
  /** What is missing may be installed from the system's packages, by root; true without it. */
  readonly mayInstall?: boolean | undefined;
  /** Takes progress lines. */
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Whether this process may install packages, which root may. */
  readonly isRoot?: boolean;
};

type Programs = { readonly java: string | null; readonly maven: string | null };

/** Finds Java, and Maven where it is requested: their full paths. What is missing is installed with apt if that may and can be done. */
export async function findJava(options: JavaOptions): Promise<{ readonly java: string; readonly maven: string }> {
  const before = await programs(options);
  const { java, maven } = isMissing(before) ? await install(before, options) : before;
  if (java === null || maven === null) throw new StartError(`${lackOf({ java, maven })}: ${fixOf({ java, maven })}.`);
  return { java, maven };
}

async function programs({ maven, signal }: JavaOptions): Promise<Programs> {
  return { java: await usableJava(signal), maven: maven ? findProgram('mvn') : '' };
}

const isMissing = ({ java, maven }: Programs): boolean => java === null || maven === null;

/** The first half of a sentence: what is missing, and what for. */
function lackOf({ java, maven }: Programs): string {
  const names = [...(java === null ? [`Java ${MIN_JAVA} or newer`] : []), ...(maven === null ? ['Maven'] : [])];
  return `The embedded Kafka needs ${names.join(' and ')}, which ${names.length === 1 ? 'is' : 'are'} not installed`;
}

/** The second half: what an operator can do. */
function fixOf(found: Programs): string {
  const [packages = []] = packagesOf(found);
  return `install ${found.java === null && found.maven === null ? 'them' : 'it'} (Debian: apt-get install ${packages.join(' ')}), or name a Kafka cluster in LOGWEIR_KAFKA_BROKERS`;
}

/** The packages that have what is missing; the second list is for where there is not all of the first. */
function packagesOf({ java, maven }: Programs): readonly (readonly string[])[] {
  const more = maven === null ? ['maven'] : [];
  return java === null ? JAVA_PACKAGES.map((name) => [name, ...more]) : [more];
}

async function install(found: Programs, options: JavaOptions): Promise<Programs> {
  const { mayInstall = true, isRoot = process.getuid?.() === 0, log, signal } = options;
  if (!mayInstall)
    throw new StartError(`${lackOf(found)}, and LOGWEIR_INSTALL=0 forbids a start to install packages of the system: ${fixOf(found)}.`);
  const apt = findProgram('apt-get');
  if (apt === null || !isRoot) throw new StartError(`${lackOf(found)}: ${fixOf(found)}.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=120'];
  const faults: string[] = [];
  for (const packages of packagesOf(found)) {
    log(`${lackOf(found)}: installing ${packages.join(' and ')} from the system's packages with apt-get (LOGWEIR_INSTALL=0 forbids it) …`);
    if (faults.length === 0) await run(apt, [...wait, 'update'], { env, signal });
    const { code, output } = await run(apt, [...wait, 'install', '-y', ...packages], { env, signal });
    if (code === 0) return programs(options);
    faults.push(`apt-get could not install ${packages.join(' and ')} (${output.trimEnd().split('\n').at(-1) ?? ''}): ${fixOf(found)}.`);
  }
  throw new StartError(faults[0]);
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

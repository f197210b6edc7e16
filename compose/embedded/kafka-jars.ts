import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { packageRoot } from '../../pipeline/core/package-root.ts';
import { template } from './template.ts';
import { findJava } from './java.ts';
import { run } from './run.ts';
import { StartError } from './start-error.ts';

const POM = template('pom.xml');
// Next to node_modules, not in it: `npm ci` deletes that.
const CACHE = path.join(packageRoot(), '.cache', 'logweir');
/** Holds the pom.xml that the jars next to it were fetched for. */
const FETCHED_FOR = 'pom.xml';

export type KafkaJarsOptions = {
  /** Takes progress lines. */
  readonly log: (line: string) => void;
  /** Java and Maven may be installed from the system's packages; true without it. */
  readonly mayInstall?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** What Kafka is run with. */
export type KafkaProgram = {
  /** The path of Java. */
  readonly java: string;
  /** The folder that the jars lie in. */
  readonly jars: string;
  readonly classpath: string;
};

/** Finds Java and the jars that pom.xml names. What is missing is fetched, once for all data directories. */
export async function prepareKafka({ log, mayInstall, signal }: KafkaJarsOptions): Promise<KafkaProgram> {
  const pom = readFileSync(POM, 'utf8');
  const version = /<kafka\.version>(.+)<\/kafka\.version>/.exec(pom)?.[1];
  if (version === undefined) throw new Error('BUG: pom.xml names no Kafka version.');
  const folder = path.join(CACHE, `kafka-${version}`);
  const marker = path.join(folder, FETCHED_FOR);
  const isFetched = existsSync(marker) && readFileSync(marker, 'utf8') === pom;
  const { java, maven } = await findJava({ maven: !isFetched, mayInstall, log, signal });
  if (!isFetched) {
    log('fetching Kafka …');
    await fetchJars(maven, pom, folder, signal);
  }
  const classpath = jarsIn(folder).map((jar) => path.join(folder, jar));
  return { java, jars: folder, classpath: classpath.join(':') };
}

const jarsIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .sort()
    .filter((name) => name.endsWith('.jar'));

/**
 * Has Maven copy the jars into a folder of this call, and moves them from there: no start sees half of one, and two
 * starts at once do the same work twice.
 */
async function fetchJars(maven: string, pom: string, folder: string, signal: AbortSignal | undefined): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const half = mkdtempSync(path.join(CACHE, 'fetching-'));
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${half}`, '-DincludeScope=runtime'];
    const { code, output } = await run(maven, ['-q', '-B', '-f', POM, ...goal], { cwd: half, signal });
    if (code !== 0) {
      const lines = stripVTControlCharacters(output).trim().split('\n');
      const reason = lines.find((line) => line.includes('ERROR')) ?? lines.at(-1) ?? '';
      throw new StartError(`Maven could not fetch Kafka: ${reason.slice(0, 500)}`);
    }
    mkdirSync(folder, { recursive: true });
    const wanted = jarsIn(half);
    // A jar that is there already stays as it is: an instance that runs may be reading it.
    for (const jar of wanted) if (!existsSync(path.join(folder, jar))) renameSync(path.join(half, jar), path.join(folder, jar));
    for (const jar of jarsIn(folder)) if (!wanted.includes(jar)) rmSync(path.join(folder, jar), { force: true });
    writeFileSync(path.join(folder, FETCHED_FOR), pom);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findJava } from '../../compose/embedded/java.ts';
import { findProgram, run } from '../../compose/embedded/run.ts';
import { takeLock } from '../../main/lock.mjs';
import { until } from '../e2e/instance.ts';
import { isWhole } from '../extent.ts';
import {
  goCommand,
  goMadeFor,
  installGo,
  installPrometheus,
  installS3,
  installTelegraf,
  prometheusMadeFor,
  s3MadeFor,
  telegrafMadeFor,
} from './go-toolset.ts';

export type ToolsetName =
  | 'node'
  | 'python'
  | 'readers'
  | 'client'
  | 'linter'
  | 'java'
  | 'go'
  | 'debian'
  | 'alertmanager'
  | 'prometheus'
  | 'prometheus-3'
  | 'telegraf'
  | 's3'
  | 'browser'
  | 'balancer'
  | 'firefox';

/** Clients of one package registry, installed into a folder of the cache. */
export type Toolset = { readonly folder: string };

/** Why a toolset cannot be had on this machine. */
export class NotHere extends Error {}

type Recipe = {
  /** What decides on the content of the folder: another text, another installation. */
  readonly madeFor: () => string;
  readonly install: (folder: string, log: (line: string) => void) => Promise<void>;
};

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, '.cache', 'shippers');
const file = (...parts: string[]): string => path.join(import.meta.dirname, ...parts);
const text = (...parts: string[]): string => readFileSync(file(...parts), 'utf8');

/** Programs of Debian and Ubuntu, each unpacked into a folder of its own, since rsyslog and syslog-ng exclude each other. */
const DEBIAN_PROGRAMS = {
  rsyslog: ['rsyslog', 'rsyslog-elasticsearch', 'rsyslog-gnutls', 'rsyslog-openssl'],
  'syslog-ng': ['syslog-ng-core', 'syslog-ng-mod-http'],
} as const;

const RECIPES: Readonly<Record<ToolsetName, Recipe>> = {
  node: nodePackages('node'),
  // no shippers: what reads the description of the API
  linter: nodePackages('redocly'),
  client: pythonPackages(path.join(root, 'examples', 'clients', 'python', 'requirements.txt')),
  python: pythonPackages(file('python', 'requirements.txt')),
  // no shippers: the other way, examples/readers/
  readers: pythonPackages(path.join(root, 'examples', 'readers', 'requirements.txt')),
  java: {
    madeFor: () => text('java', 'pom.xml'),
    install: async (folder, log) => {
      const { maven } = await findJava({ maven: true, log });
      const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, '-DincludeScope=runtime'];
      await must(maven, ['-q', '-B', '-f', file('java', 'pom.xml'), ...goal], folder);
    },
  },
  go: goPrograms(goMadeFor, installGo),
  debian: debianPackages(DEBIAN_PROGRAMS),
  // no shipper: who is told of alerts
  alertmanager: debianPackages({ alertmanager: ['prometheus-alertmanager'] }),
  // the libraries are those of collectd's page for Prometheus
  prometheus: debianPackages({ prometheus: ['prometheus'], collectd: ['collectd-core', 'libmicrohttpd12', 'libprotobuf-c1'] }),
  'prometheus-3': goPrograms(prometheusMadeFor, installPrometheus),
  telegraf: goPrograms(telegrafMadeFor, installTelegraf),
  // a store for old rows
  s3: goPrograms(s3MadeFor, installS3),
  // nor these: who looks, and what is between
  browser: debianPackages({ nginx: ['nginx'] }),
  balancer: debianPackages({ haproxy: ['haproxy'] }),
  firefox: debianPackages({ 'firefox-esr': ['firefox-esr'] }),
};

/** What takes minutes of all cores to compile or to install: only where all tests run. */
const LONG: readonly ToolsetName[] = ['java', 'go', 'prometheus-3', 'telegraf', 's3', 'client'];

/** Programs in Go, compiled. */
function goPrograms(madeFor: () => string, compile: (command: string, folder: string) => Promise<void>): Recipe {
  return {
    madeFor,
    install: async (folder) => {
      const command = goCommand();
      if (command === null) throw new NotHere('there is no Go');
      await compile(command, folder);
    },
  };
}

/** Programs of Debian, each from its packages, in a folder of its own. */
function debianPackages(programs: Readonly<Record<string, readonly string[]>>): Recipe {
  return {
    madeFor: () => JSON.stringify(programs) + (existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''),
    install: async (folder) => {
      if (findProgram('apt-get') === null || findProgram('dpkg') === null) throw new NotHere('this is no Debian or Ubuntu');
      if (process.getuid?.() !== 0) throw new NotHere('apt-get needs root');
      await run('apt-get', ['-q', 'update']);
      for (const [program, packages] of Object.entries(programs)) await unpack(path.join(folder, program), packages);
    },
  };
}

/** Packages of npm, as a folder beside this file locks them. */
function nodePackages(from: string): Recipe {
  return {
    madeFor: () => `${process.version} ${text(from, 'package-lock.json')}`,
    install: async (folder) => {
      for (const name of ['package.json', 'package-lock.json', '.npmrc']) writeFileSync(path.join(folder, name), text(from, name));
      await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
    },
  };
}

/** An environment of Python's own with the packages of a file, which names all that they need too. */
function pythonPackages(requirements: string): Recipe {
  return {
    madeFor: () => readFileSync(requirements, 'utf8'),
    install: async (folder) => {
      await must('python3', ['-m', 'venv', '.'], folder);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'];
      await must(path.join(folder, 'bin', 'python'), [...pip, '-r', requirements], folder);
    },
  };
}

/** Installs a toolset unless the cache has it, trying twice. Throws NotHere where it cannot be had, or takes long and a sample of the tests runs. */
export async function installToolset(name: ToolsetName, log: (line: string) => void): Promise<Toolset> {
  if (!isWhole && LONG.includes(name)) throw new NotHere('it takes minutes, and is left to npm run test:all');
  const { madeFor, install } = RECIPES[name];
  const folder = path.join(cache, name);
  const stamp = path.join(folder, 'made-for');
  const wanted = madeFor();
  mkdirSync(cache, { recursive: true });
  const lock = await until('the lock of the installation', () => Promise.resolve(takeLock(`${folder}.lock`)), isTaken, 300_000);
  try {
    for (let left = 1; !existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted; left -= 1) {
      log(`installing the toolset ${name} …`);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      try {
        await install(folder, log);
        writeFileSync(stamp, wanted);
      } catch (error) {
        if (error instanceof NotHere) throw error;
        if (left === 0) throw new NotHere(error instanceof Error ? error.message : String(error), { cause: error });
      }
    }
  } finally {
    lock.release?.();
  }
  return { folder };
}

const isTaken = (lock: ReturnType<typeof takeLock>): boolean => lock.release !== null;

/** Runs a step of an installation; throws its last lines where it fails. */
async function must(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, output } = await run(command, args, { cwd });
  if (code !== 0) throw new Error(`${path.basename(command)} ${args[0] ?? ''}: ${output.trim().split('\n').slice(-5).join(' ')}`);
}

/** Downloads packages with what they depend on and is not there, and unpacks them into `<folder>/root`: nothing of the system changes. */
async function unpack(folder: string, packages: readonly string[]): Promise<void> {
  const archives = path.join(folder, 'archives');
  mkdirSync(path.join(archives, 'partial'), { recursive: true });
  await must('apt-get', ['-q', 'download', ...packages], archives);
  const options = ['-y', '-q', '--no-install-recommends', '--download-only', '-o', `Dir::Cache::archives=${archives}`];
  await must('apt-get', [...options, '-o', 'Debug::NoLocking=1', 'install', ...packages], archives);
  for (const archive of readdirSync(archives).filter((name) => name.endsWith('.deb')))
    await must('dpkg', ['-x', path.join(archives, archive), path.join(folder, 'root')], archives);
}

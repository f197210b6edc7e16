import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { detectorNameFault } from '../../detectors/custom.ts';
import { NEW_PATTERN, RULE } from '../book/alert.ts';
import { pointDetectors, valueDetectors } from '../../detectors/point-series.ts';
import type { DetectorLook } from './detector-messages.ts';
import { DetectorProcess, type DetectorSource } from './detector-process.ts';

/** What is loaded of a folder. */
const CODE = /\.[cm]?[jt]s$/;
const NO_CODE = /\.(?:d|test|spec)\.[cm]?[jt]s$/;
/** Each has a process of its own. */
const MOST = 20;

/** A detector of one's own: what it is, which version, and where its code is. */
export type LoadedDetector = DetectorLook & {
  /** A hash of its file, or the version of its package. */
  readonly version: string;
  readonly source: DetectorSource;
};

type Versioned = { readonly source: DetectorSource; readonly version: string };

/**
 * The detectors of these files, folders and packages (`LOGWEIR_DETECTORS`); names count from `folder`. Their code runs in processes of their own
 * alone, here too. Throws an Error with a sentence that names the file and the fault.
 */
export async function loadDetectors(entries: readonly string[], folder = process.cwd()): Promise<readonly LoadedDetector[]> {
  const sources = entries.flatMap((entry) => sourcesOf(entry, folder));
  if (sources.length > MOST) throw new Error(`There are ${String(sources.length)} files of detectors; at most ${String(MOST)} are loaded.`);
  const loaded = (await Promise.all(sources.map(loadOne))).flat();
  // alerts of rules and of new patterns have names of their own
  const taken = new Set([...pointDetectors.names, ...valueDetectors.names, RULE, NEW_PATTERN]);
  for (const { name, source } of loaded) {
    const fault = detectorNameFault(name) ?? (taken.has(name) ? `The name ${JSON.stringify(name)} is taken.` : null);
    if (fault !== null) throw new Error(`The detector ${source.specifier} cannot be used: ${fault}`);
    taken.add(name);
  }
  return loaded;
}

async function loadOne({ source, version }: Versioned): Promise<readonly LoadedDetector[]> {
  const child = new DetectorProcess();
  try {
    return (await child.load(source)).map((look) => ({ ...look, version, source }));
  } finally {
    child.kill();
  }
}

/** The files of an entry, or the package that it names. */
function sourcesOf(entry: string, folder: string): readonly Versioned[] {
  const at = path.resolve(folder, entry);
  if (!existsSync(at)) return [packageOf(entry, folder)];
  if (!statSync(at).isDirectory()) return [fileOf(at, folder)];
  const files = readdirSync(at).filter((name) => CODE.test(name) && !NO_CODE.test(name));
  if (files.length === 0) throw new Error(`The folder ${entry} of LOGWEIR_DETECTORS has no detectors: no file ends with .ts, .js or .mjs.`);
  return files.sort().map((name) => fileOf(path.join(at, name), folder));
}

const fileOf = (file: string, folder: string): Versioned => ({
  source: { specifier: file, folder },
  version: createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12),
});

function packageOf(name: string, folder: string): Versioned {
  const isName = /^(?:@[a-z0-9._-]+\/)?[a-z0-9_-][a-z0-9._-]*$/i.test(name) && !CODE.test(name);
  for (let at = folder; isName; at = path.dirname(at)) {
    const file = path.join(at, 'node_modules', name, 'package.json');
    if (existsSync(file)) {
      const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: unknown };
      return { source: { specifier: name, folder: at }, version: typeof version === 'string' ? version : 'unknown' };
    }
    if (path.dirname(at) === at) break;
  }
  throw new Error(`The detector ${name} cannot be loaded: there is no such file or folder${isName ? ', nor a package of this name' : ''}.`);
}

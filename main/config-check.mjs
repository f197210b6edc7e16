import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { StartError } from '../compose/embedded/start-error.mjs';

/**
 * Throws a StartError where the service would refuse this environment, before any engine is started for it. The rules are those of
 * the built program; where there is none yet, the set-up finds the faults later. A build that is out of date may not know a
 * variable yet, so a fault counts only after a new build.
 * @param {string} dist the compiled program
 * @param {NodeJS.ProcessEnv} env what the roles will get
 * @param {() => Promise<void>} rebuild brings `dist` up to date
 */
export async function checkConfig(dist, env, rebuild) {
  const file = path.join(dist, 'pipeline', 'core', 'config.js');
  if (!existsSync(file) || (await fault(file, env, 'first')) === null) return;
  await rebuild();
  const found = await fault(file, env, 'second');
  if (found !== null) throw new StartError(found);
}

/** @param {string} file @param {NodeJS.ProcessEnv} env @param {string} look makes the module be read anew */
async function fault(file, env, look) {
  try {
    const { loadConfig } = await import(`${pathToFileURL(file).href}?${look}`);
    loadConfig(env);
    return null;
  } catch (error) {
    return error instanceof Error && error.message.startsWith('The configuration is wrong') ? error.message : null;
  }
}

import path from 'node:path';
import { StartError } from '../compose/embedded/start-error.mjs';
import { ROLES } from './role-process.mjs';

/** @typedef {import('./settings.d.mts').Listener} Listener */

/**
 * Reads environment and command line.
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly string[]} argv what stands behind the program's name
 * @returns {import('./settings.d.mts').Settings}
 */
export function readSettings(env, argv) {
  const roles = readRoles(argv);
  const app = listener(env, 'LOGWEIR_HOST', 'LOGWEIR_APP_PORT', 8080);
  const ingest = listener(env, 'LOGWEIR_HOST', 'LOGWEIR_INGEST_PORT', 8081);
  const admin = listener(env, 'LOGWEIR_ADMIN_HOST', 'LOGWEIR_ADMIN_PORT', 8082);
  const all = { app, ingest, admin };
  const listeners = ROLES.filter(({ name }) => roles.includes(name)).flatMap(({ listens }) => listens.map((name) => all[name]));
  return {
    listeners,
    appUrl: url(app),
    ingestUrl: url(ingest),
    dataDir: readDataDir(env),
    isKafkaEmbedded: !env['LOGWEIR_KAFKA_BROKERS'],
    isClickHouseEmbedded: !env['LOGWEIR_CLICKHOUSE_URL'],
    survivesPowerLoss: readDurability(env),
    roles,
  };
}

/** @param {NodeJS.ProcessEnv} env */
function readDurability(env) {
  if (env['LOGWEIR_DURABILITY'] !== 'power-loss') return false;
  if (env['LOGWEIR_KAFKA_BROKERS'] && env['LOGWEIR_CLICKHOUSE_URL']) {
    throw new StartError('LOGWEIR_DURABILITY=power-loss is for embedded engines, and there is none; configure your own to write through.');
  }
  return true;
}

/**
 * The data directory of the instance, as an absolute path.
 * @param {NodeJS.ProcessEnv} env
 */
export function readDataDir(env) {
  return path.resolve(env['LOGWEIR_DATA_DIR'] || 'data');
}

/** @param {readonly string[]} argv */
function readRoles(argv) {
  const known = ROLES.map(({ name }) => name);
  let chosen = known;
  for (let index = 0; index < argv.length; index++) {
    const argument = /** @type {string} */ (argv[index]);
    if (argument !== '--role' && !argument.startsWith('--role=')) {
      throw new StartError(`The option ${argument} is unknown; there is only --role ${known.join(',')}.`);
    }
    const list = argument === '--role' ? (argv[++index] ?? '') : argument.slice('--role='.length);
    chosen = list.split(',').map((name) => name.trim());
  }
  const unknown = chosen.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new StartError(`There is no role "${unknown[0]}"; roles are ${known.join(', ')}.`);
  return known.filter((name) => chosen.includes(name));
}

/**
 * @param {NodeJS.ProcessEnv} env @param {string} hostVariable @param {string} portVariable @param {number} defaultPort
 * @returns {Listener}
 */
function listener(env, hostVariable, portVariable, defaultPort) {
  const text = env[portVariable] || String(defaultPort);
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new StartError(`${portVariable} must be a port from 0 to 65535, but is "${text}".`);
  }
  return { host: env[hostVariable] || '127.0.0.1', hostVariable, port, portVariable };
}

/** @param {Listener} listener */
function url({ host, port }) {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

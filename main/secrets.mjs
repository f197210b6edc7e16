import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { StartError } from '../compose/embedded/start-error.mjs';

/**
 * The secrets of an instance, as environment variables for its processes. What the environment does not give is made
 * once and kept in the data directory, readable by its owner alone.
 * @param {string} dataDir
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} isKafkaEmbedded without a Kafka of its own an instance makes no first key: other instances would too
 * @returns {Record<string, string>}
 */
export function keptSecrets(dataDir, env, isKafkaEmbedded) {
  const hex = () => randomBytes(32).toString('hex');
  const secrets = {
    LOGWEIR_KEY_PEPPER: env['LOGWEIR_KEY_PEPPER'] || kept(path.join(dataDir, 'key.pepper'), hex),
    LOGWEIR_ADMIN_TOKEN: env['LOGWEIR_ADMIN_TOKEN'] || kept(path.join(dataDir, 'admin.token'), hex),
  };
  const key = bootstrapKey(path.join(dataDir, 'bootstrap.key'), env['LOGWEIR_BOOTSTRAP_KEY'], isKafkaEmbedded);
  return key === null ? secrets : { ...secrets, LOGWEIR_BOOTSTRAP_KEY: key };
}

/** @param {string} file @param {string | undefined} given @param {boolean} isKafkaEmbedded */
function bootstrapKey(file, given, isKafkaEmbedded) {
  // before it is kept
  if (given && !/^[A-Za-z0-9_-]{16,}$/.test(given)) {
    throw new StartError('LOGWEIR_BOOTSTRAP_KEY must have 16 characters or more of A-Z, a-z, 0-9, "_" and "-".');
  }
  if (!isKafkaEmbedded) return given || null;
  if (given) keep(file, given);
  return given || kept(file, () => `lw_${randomBytes(24).toString('base64url')}`);
}

/** @param {string} file @param {() => string} make */
function kept(file, make) {
  if (!existsSync(file)) keep(file, make());
  return readFileSync(file, 'utf8').trim();
}

/** @param {string} file @param {string} secret */
function keep(file, secret) {
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  chmodSync(file, 0o600); // the mode above counts for new files only
}

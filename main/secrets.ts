import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../pipeline/core/config.ts';

/**
 * The secrets of an instance, as environment variables for its processes. What the environment does not give is made
 * once and kept in the data directory, readable by its owner alone. Without a Kafka of its own an instance makes no first
 * key: other instances would too.
 */
export function keptSecrets(dataDir: string, keys: Config['keys'], isKafkaEmbedded: boolean): Readonly<Record<string, string>> {
  const hex = (): string => randomBytes(32).toString('hex');
  const secrets = {
    LOGWEIR_KEY_PEPPER: keys.pepper || kept(path.join(dataDir, 'key.pepper'), hex),
    LOGWEIR_ADMIN_TOKEN: keys.adminToken || kept(path.join(dataDir, 'admin.token'), hex),
  };
  const key = bootstrapKey(path.join(dataDir, 'bootstrap.key'), keys.bootstrapKey, isKafkaEmbedded);
  return key === '' ? secrets : { ...secrets, LOGWEIR_BOOTSTRAP_KEY: key };
}

function bootstrapKey(file: string, given: string, isKafkaEmbedded: boolean): string {
  if (!isKafkaEmbedded) return given;
  if (given !== '') keep(file, given);
  return given || kept(file, () => `lw_${randomBytes(24).toString('base64url')}`);
}

function kept(file: string, make: () => string): string {
  if (!existsSync(file)) keep(file, make());
  return readFileSync(file, 'utf8').trim();
}

function keep(file: string, secret: string): void {
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  chmodSync(file, 0o600); // the mode above counts for new files only
}

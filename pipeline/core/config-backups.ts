import Joi from 'joi';
import { isS3, type StoragePlace } from './storage-place.ts';

/** Where backups go. */
export type Backups = {
  /** The place of those that have a name alone, of the embedded ClickHouse; `at` is empty where it is the folder in its data directory. */
  readonly named: StoragePlace;
  /** The disk of the server that names are on; null: its folder of backups. */
  readonly disk: string | null;
};

type Environment = Readonly<Record<string, string | number | boolean | undefined>>;

/** What the embedded ClickHouse calls the disk of backups, where they go to S3. */
export const BACKUP_DISK = 'backups';

/** The variables of backups. */
export const backupRows = {
  LOGWEIR_BACKUP_DIR: Joi.string()
    .custom((text: string, helpers) => (!/^\w+:\/\//.test(text) || isS3(text) ? text : helpers.error('any.custom')))
    .messages({ 'any.custom': '{{#label}} must be a folder, or the http or https URL of a prefix on S3' })
    .description(
      'Where the embedded ClickHouse puts backups (`logweir admin backup`): a folder, by default `backups` in the data directory, or `https://HOST/BUCKET/PREFIX/` of S3.',
    ),
  LOGWEIR_BACKUP_S3_ACCESS_KEY: Joi.string().description(
    "Access key of backups on S3, which ClickHouse is given; without it, the server's own credentials.",
  ),
  LOGWEIR_BACKUP_S3_SECRET_KEY: Joi.string().description('Its secret key.'),
};

/** What they say. Notes faults. */
export function backupsOf(env: Environment, isEmbedded: boolean, faults: string[]): Backups {
  const text = (name: string): string => String(env[name] ?? '');
  const at = text('LOGWEIR_BACKUP_DIR');
  // roles that a supervisor starts are given the address of its own ClickHouse
  if (isS3(at) && !isEmbedded && env['LOGWEIR_EMBEDDED'] !== true)
    faults.push(
      'LOGWEIR_BACKUP_DIR on S3 is of the embedded ClickHouse; name the URL of a backup where yours makes it (docs/operations.md)',
    );
  const named = { at, accessKey: text('LOGWEIR_BACKUP_S3_ACCESS_KEY'), secretKey: text('LOGWEIR_BACKUP_S3_SECRET_KEY') };
  return { named, disk: isS3(at) ? BACKUP_DISK : null };
}

import Joi from 'joi';
import path from 'node:path';
import { isS3, type StoragePlace } from './storage-place.ts';

/** When rows are moved from the disk to the volume `cold` of a storage policy. */
export type ColdTier = { readonly policy: string; readonly afterDays: number };

type Environment = Readonly<Record<string, string | number | boolean | undefined>>;

/** The policy that the embedded ClickHouse has where it has a cold volume. */
export const OWN_POLICY = 'logweir';
export const COLD_VOLUME = 'cold';
const MAX_DAYS = 3650;

const isPlace = (text: string): boolean => isS3(text) || path.isAbsolute(text);

/** The variables of old rows. */
export const coldRows = {
  LOGWEIR_COLD_AFTER_DAYS: Joi.number()
    .integer()
    .min(0)
    .max(MAX_DAYS)
    .description(
      'After how many days, counted from their arrival, rows are moved to the cold volume: docs/tiers.md. 0: none any more; without it nothing is changed.',
    ),
  LOGWEIR_COLD_VOLUME: Joi.string()
    .custom((text: string, helpers) => (isPlace(text) ? text : helpers.error('any.custom')))
    .messages({ 'any.custom': '{{#label}} must be an absolute path, or the http or https URL of a prefix on S3' })
    .description('The cold volume of the embedded ClickHouse: a folder, or `https://HOST/BUCKET/PREFIX/` of S3.'),
  LOGWEIR_COLD_S3_ACCESS_KEY: Joi.string().description('Access key of `LOGWEIR_COLD_VOLUME` on S3.'),
  LOGWEIR_COLD_S3_SECRET_KEY: Joi.string().description('Its secret key.'),
  LOGWEIR_STORAGE_POLICY: Joi.string()
    .pattern(/^\w+$/)
    .default(OWN_POLICY)
    .description('Storage policy of a ClickHouse of yours, whose first volume is `default` and another one `cold`.'),
};

/** What they say; the tier is null where nothing is to be changed, the volume where the embedded engine has none. Notes faults. */
export function coldOf(
  env: Environment,
  isEmbedded: boolean,
  faults: string[],
): { readonly tier: ColdTier | null; readonly volume: StoragePlace | null } {
  const text = (name: string): string => String(env[name] ?? '');
  const at = text('LOGWEIR_COLD_VOLUME');
  const days = env['LOGWEIR_COLD_AFTER_DAYS'];
  // roles that a supervisor starts are given the address of its own ClickHouse
  if (at !== '' && !isEmbedded && env['LOGWEIR_EMBEDDED'] !== true)
    faults.push('LOGWEIR_COLD_VOLUME is of the embedded ClickHouse; give yours a storage policy (docs/tiers.md)');
  if (at === '' && isEmbedded && days !== undefined)
    faults.push('LOGWEIR_COLD_AFTER_DAYS needs LOGWEIR_COLD_VOLUME, the place where old rows go');
  const keys = { accessKey: text('LOGWEIR_COLD_S3_ACCESS_KEY'), secretKey: text('LOGWEIR_COLD_S3_SECRET_KEY') };
  return {
    tier: days === undefined ? null : { policy: text('LOGWEIR_STORAGE_POLICY'), afterDays: Number(days) },
    volume: at === '' ? null : { at, ...keys },
  };
}

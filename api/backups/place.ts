import { invalidParameter } from '../../pipeline/core/errors.ts';

/** The two backups of the engine that a backup has: the tables, and behind them what is known of it. */
export type Part = 'tables' | 'manifest';

/** Where a backup lies: the engine's expression for each part of it. The keys of S3 are in it: it is not to be logged. */
export type Place = {
  of(part: Part): string;
  /** The engine's settings for statements that name it. */
  readonly settings: Readonly<Record<string, string>>;
};

/** What places are made with: who writes to S3 (empty: the server's own credentials), and the disk of names; null: the server's folder of backups. */
export type Places = { readonly accessKey: string; readonly secretKey: string; readonly disk: string | null };

const MAX_PLACE = 500;
/** S3 that is silent ends a statement within minutes: without them it is asked a thousand times. */
const OF_S3 = { s3_connect_timeout_ms: '2000', s3_request_timeout_ms: '10000', backup_restore_s3_retry_attempts: '3' };
/** A path without `..`, empty steps, or anything that a shell or an SQL text would take for something else. */
const STEP = String.raw`[A-Za-z0-9_][A-Za-z0-9_.\-]*`;
const PATH = new RegExp(`^${STEP}(?:/${STEP})*$`);
const DISK = new RegExp(`^disk:(${STEP})/(${STEP}(?:/${STEP})*)$`);
const URL_TEXT = /^https?:\/\/[\w.:-]+(?:\/[\w.\-/]*)?$/;

/**
 * Reads where a backup lies: `NAME` where the server has its backups, `disk:DISK/PATH` on a disk of the server's configuration, or the URL of a
 * prefix in a bucket of S3. Throws HttpError 400 for anything else.
 */
export function readPlace(text: string, { accessKey, secretKey, disk: ofNames }: Places): Place {
  if (text.length <= MAX_PLACE) {
    const disk = DISK.exec(text);
    if (disk !== null) return onDisk(String(disk[1]), String(disk[2]));
    if (PATH.test(text))
      return ofNames === null ? { of: (part) => `File(${quoted(`${text}/${part}`)})`, settings: {} } : onDisk(ofNames, text);
    if (URL_TEXT.test(text) && !text.includes('..')) {
      const secrets = accessKey === '' ? '' : `, ${quoted(accessKey)}, ${quoted(secretKey)}`;
      return { of: (part) => `S3(${quoted(`${text.replace(/\/+$/, '')}/${part}`)}${secrets})`, settings: OF_S3 };
    }
  }
  throw invalidParameter(
    `"at" is where a backup lies: a name (letters, digits, "_", "-", ".", steps divided by "/"), disk:DISK/NAME, or https://HOST/BUCKET/PREFIX; at most ${String(MAX_PLACE)} characters.`,
  );
}

const onDisk = (disk: string, path: string): Place => ({
  of: (part) => `Disk(${quoted(disk)}, ${quoted(`${path}/${part}`)})`,
  settings: {},
});

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

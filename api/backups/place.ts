import { invalidParameter } from '../../pipeline/core/errors.ts';

/** The two backups of the engine that a backup has: the tables, and behind them what is known of it. */
export type Part = 'tables' | 'manifest';

/** Where a backup lies: the engine's expression for each part of it. The keys of S3 are in it: it is not to be logged. */
export type Place = (part: Part) => string;

/** Who writes to S3; empty: the server's own credentials. */
export type S3Keys = { readonly accessKey: string; readonly secretKey: string };

const MAX_PLACE = 500;
/** A path without `..`, empty steps, or anything that a shell or an SQL text would take for something else. */
const STEP = String.raw`[A-Za-z0-9_][A-Za-z0-9_.\-]*`;
const PATH = new RegExp(`^${STEP}(?:/${STEP})*$`);
const DISK = new RegExp(`^disk:(${STEP})/(${STEP}(?:/${STEP})*)$`);
const URL_TEXT = /^https?:\/\/[\w.:-]+(?:\/[\w.\-/]*)?$/;

/**
 * Reads where a backup lies: `NAME` in the folder of backups, `disk:DISK/PATH` on a disk of the server's configuration, or the URL of a
 * prefix in a bucket of S3. Throws HttpError 400 for anything else.
 */
export function readPlace(text: string, keys: S3Keys): Place {
  if (text.length <= MAX_PLACE) {
    const disk = DISK.exec(text);
    if (disk !== null) return (part) => `Disk(${quoted(String(disk[1]))}, ${quoted(`${String(disk[2])}/${part}`)})`;
    if (PATH.test(text)) return (part) => `File(${quoted(`${text}/${part}`)})`;
    if (URL_TEXT.test(text) && !text.includes('..')) {
      const secrets = keys.accessKey === '' ? '' : `, ${quoted(keys.accessKey)}, ${quoted(keys.secretKey)}`;
      return (part) => `S3(${quoted(`${text.replace(/\/+$/, '')}/${part}`)}${secrets})`;
    }
  }
  throw invalidParameter(
    `"at" is where a backup lies: a name (letters, digits, "_", "-", ".", steps divided by "/"), disk:DISK/NAME, or https://HOST/BUCKET/PREFIX; at most ${String(MAX_PLACE)} characters.`,
  );
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

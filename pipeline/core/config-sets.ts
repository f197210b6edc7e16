import Joi from 'joi';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Tls } from './config-files.ts';

/** A ClickHouse: where it is, who owns its tables, and who reads them for tenants. */
export type ClickHouseAccess = {
  readonly url: string;
  /** Of an https URL. */
  readonly tls?: Tls;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly readerUser: string;
  readonly readerPassword: string;
  /** Where its reader's statements run, where that is not `database`: what all shards of its set have (`pipeline/store/front-tables.ts`). */
  readonly front?: string;
};

/** A set: a whole copy of the data in a ClickHouse of its own, which its own consumer groups fill from the log (docs/sets.md). */
export type StoreSet = {
  readonly name: string;
  /** Where queries go: the only shard, or the first one, through which all are read. */
  readonly clickhouse: ClickHouseAccess;
  /** Each has the rows of its own partitions of the log; one, unless the file names more. */
  readonly shards: readonly ClickHouseAccess[];
  /** What the first shard calls all of them, in its configuration; null where there is one. */
  readonly cluster: string | null;
  /** An operator says that it has all that the others have, though it was made later: it was restored from one of them. */
  readonly isWhole: boolean;
};

/** The set of the `LOGWEIR_CLICKHOUSE_*` variables; its groups and series are named as where there are no others. */
export const FIRST_SET = 'a';
/** Of one file, in addition to the first. */
const MAX_SETS = 7;
/** Of a set. */
const MAX_SHARDS = 16;
const MAX_SETS_FILE_BYTES = 1_048_576;

const file = Joi.string().max(4096);
const url = Joi.string().uri({ scheme: ['http', 'https'] });
const schema = Joi.object({
  sets: Joi.array()
    .max(MAX_SETS)
    .unique('name')
    .items(
      Joi.object({
        name: Joi.string()
          .pattern(/^[a-z0-9]{1,16}$/)
          .invalid(FIRST_SET)
          .messages({ 'any.invalid': `{{#label}} must not be "${FIRST_SET}", which is the set of LOGWEIR_CLICKHOUSE_URL` })
          .required(),
        url: url.required(),
        ca_file: file,
        cert_file: file,
        key_file: file,
        user: Joi.string().default('default'),
        password: Joi.string().allow(''),
        password_file: file,
        database: Joi.string()
          .pattern(/^[A-Za-z_][A-Za-z0-9_]*$/)
          .default('logweir'),
        reader_user: Joi.string(),
        reader_password: Joi.string().allow(''),
        reader_password_file: file,
        whole: Joi.boolean().default(false),
        cluster: Joi.string().pattern(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/),
        shards: Joi.array()
          .min(1)
          .max(MAX_SHARDS - 1)
          .unique('url')
          .items(Joi.object({ url: url.required() })),
      })
        .and('cluster', 'shards')
        .and('cert_file', 'key_file')
        .oxor('password', 'password_file')
        .oxor('reader_password', 'reader_password_file')
        .with('reader_password', 'reader_user')
        .with('reader_password_file', 'reader_user'),
    )
    .required(),
});

/** As the file has it. */
type Raw = {
  readonly name: string;
  readonly url: string;
  readonly user: string;
  readonly database: string;
  readonly whole: boolean;
  readonly cluster?: string;
  readonly shards?: readonly { readonly url: string }[];
} & Readonly<
  Partial<
    Record<
      'ca_file' | 'cert_file' | 'key_file' | 'password' | 'password_file' | 'reader_user' | 'reader_password' | 'reader_password_file',
      string
    >
  >
>;

/** All sets that are known, those that are not out, and the names of those that the sinks of this process write. */
export type Sets = { readonly known: readonly StoreSet[]; readonly all: readonly StoreSet[]; readonly written: readonly string[] };

/** What the environment says of sets: the file of further ones, names of those that are out, and of those that sinks write (empty: all). */
export type SetsSettings = { readonly file: string; readonly out: readonly string[]; readonly written: readonly string[] };

/**
 * The first set, and those of the file that `LOGWEIR_CLICKHOUSE_SETS_FILE` names, without those that are out. Files that it names are relative to
 * its folder. What is wrong is added to `faults`, as sentences.
 */
export function readSets(first: ClickHouseAccess, { file: setsFile, out, written }: SetsSettings, faults: string[]): Sets {
  const further = setsFile === '' ? [] : furtherSets(setsFile, faults);
  const known = [{ name: FIRST_SET, clickhouse: first, shards: [first], cluster: null, isWhole: false }, ...further];
  const names = known.map(({ name }) => name);
  for (const [variable, wanted] of [
    ['LOGWEIR_CLICKHOUSE_SETS_OUT', out],
    ['LOGWEIR_SINK_SETS', written],
  ] as const)
    // prettier-ignore
    for (const name of wanted)
      if (!names.includes(name)) faults.push(`${variable}: there is no set ${JSON.stringify(name)}; there is ${names.join(', ')}`);
  const all = known.filter(({ name }) => !out.includes(name));
  if (all.length === 0) faults.push('LOGWEIR_CLICKHOUSE_SETS_OUT: every set is out, and one must be left');
  return { known, all, written: all.map(({ name }) => name).filter((name) => written.length === 0 || written.includes(name)) };
}

function furtherSets(setsFile: string, faults: string[]): readonly StoreSet[] {
  const own: string[] = [];
  const read = (from: string): string => {
    try {
      return readFileSync(path.resolve(path.dirname(setsFile), from), 'utf8');
    } catch (error) {
      own.push(`${from} cannot be read (${String((error as NodeJS.ErrnoException).code)})`);
      return '';
    }
  };
  const sets = checked(read(path.resolve(setsFile)), own).map((raw) => setOf(raw, read, own));
  if (own.length > 0) faults.push(`LOGWEIR_CLICKHOUSE_SETS_FILE, ${setsFile}: ${own.join(', ')}`);
  return sets;
}

function checked(text: string, faults: string[]): readonly Raw[] {
  if (faults.length > 0) return [];
  try {
    if (text.length > MAX_SETS_FILE_BYTES) throw new Error(`it has more than ${String(MAX_SETS_FILE_BYTES)} bytes`);
    const result = schema.validate(JSON.parse(text), { abortEarly: false });
    if (result.error === undefined) return (result.value as { readonly sets: readonly Raw[] }).sets;
    faults.push(...result.error.details.map(({ message }) => message));
  } catch (error) {
    // what stands around a fault of JSON may be a password
    faults.push(error instanceof SyntaxError ? 'it is not valid JSON' : (error as Error).message);
  }
  return [];
}

function setOf(raw: Raw, read: (file: string) => string, faults: string[]): StoreSet {
  const secret = (value: string | undefined, from: string | undefined): string =>
    value ?? (from === undefined ? '' : read(from).replace(/\r?\n$/, ''));
  const pem = (from: string | undefined): string | undefined => {
    if (from === undefined) return undefined;
    const text = read(from);
    if (text !== '' && !text.includes('-----BEGIN ')) faults.push(`${from} is not in PEM`);
    return text;
  };
  const { name, url, user, database, reader_user: readerUser = user } = raw;
  const isHttps = url.startsWith('https:');
  const [ca, cert, key] = [pem(raw.ca_file), pem(raw.cert_file), pem(raw.key_file)];
  if (!isHttps && (ca ?? cert) !== undefined) faults.push(`the set ${name} has files of TLS, and its url begins with http://`);
  const tls = { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
  const password = secret(raw.password, raw.password_file);
  const readerPassword = raw.reader_user === undefined ? password : secret(raw.reader_password, raw.reader_password_file);
  const clickhouse = { url, ...(isHttps ? { tls } : {}), user, password, database, readerUser, readerPassword };
  const { cluster = null, shards: others = [] } = raw;
  for (const other of others) {
    if (other.url === url) faults.push(`the set ${name} has the url ${url} twice`);
    if (other.url.startsWith('https:') !== isHttps) faults.push(`shards of the set ${name} have urls with http:// and with https://`);
  }
  const shards = [clickhouse, ...others.map((other) => ({ ...clickhouse, url: other.url }))];
  const front = cluster === null ? clickhouse : { ...clickhouse, front: frontOf(database) };
  return { name, clickhouse: front, shards, cluster, isWhole: raw.whole };
}

/** The database of a set's first shard in which queries of all its shards run. */
const frontOf = (database: string): string => `${database}_shards`;

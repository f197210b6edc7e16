import Joi from 'joi';
import { readFileSync, statSync } from 'node:fs';

/** What a TLS connection is made with, in PEM: whom to trust besides its name (the system's authorities without it), and who we are. */
export type Tls = { readonly ca?: string; readonly cert?: string; readonly key?: string };

type Environment = Readonly<Record<string, string | number | boolean | undefined>>;

/** Variables that hold a secret: of each, `NAME_FILE` may name a file that holds it. */
const SECRETS = [
  'LOGWEIR_ADMIN_TOKEN',
  'LOGWEIR_AI_KEY',
  'LOGWEIR_BACKUP_S3_ACCESS_KEY',
  'LOGWEIR_BACKUP_S3_SECRET_KEY',
  'LOGWEIR_COLD_S3_ACCESS_KEY',
  'LOGWEIR_COLD_S3_SECRET_KEY',
  'LOGWEIR_KAFKA_SASL_USERNAME',
  'LOGWEIR_KAFKA_SASL_PASSWORD',
  'LOGWEIR_CLICKHOUSE_PASSWORD',
  'LOGWEIR_CLICKHOUSE_READER_PASSWORD',
  'LOGWEIR_KEY_PEPPER',
  'LOGWEIR_BOOTSTRAP_KEY',
];
/** No secret is longer than that. Bytes. */
const SECRET_BYTES = 65_536;

/** A row of the schema of variables for each file of a secret. */
export const secretFileRows = (): Record<string, Joi.Schema> =>
  Object.fromEntries(
    SECRETS.map((name) => [
      `${name}_FILE`,
      Joi.string().description(`File that holds \`${name}\`; a line break at its end does not count.`),
    ]),
  );

/** The variables with what the files of secrets hold under the names of the secrets, and what is wrong with those files. */
export function withSecretFiles(env: Readonly<Record<string, string | undefined>>): {
  readonly values: Record<string, string | undefined>;
  readonly unread: readonly string[];
} {
  const values = { ...env };
  const unread: string[] = [];
  for (const name of SECRETS) {
    const file = env[`${name}_FILE`];
    if (file === undefined) continue;
    if (env[name] === undefined) {
      const { text, fault } = readSecret(file);
      if (fault === null) values[name] = text;
      else unread.push(`${name}_FILE: ${file} ${fault}`);
    } else unread.push(`${name} and ${name}_FILE exclude each other`);
  }
  return { values, unread };
}

/** Variables with others put in; the files of those would contradict them. */
export function withVariables(
  env: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const replaced = new Set(Object.keys(given).map((name) => `${name}_FILE`));
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !replaced.has(name) || !isSecretFile(name))), ...given };
}

const isSecretFile = (name: string): boolean => SECRETS.some((secret) => `${secret}_FILE` === name);

/** What a file of a secret holds, or why it cannot be used. */
function readSecret(file: string): { readonly text: string; readonly fault: string | null } {
  try {
    const status = statSync(file);
    if (!status.isFile()) return { text: '', fault: 'is not a file' };
    if (status.size > SECRET_BYTES) return { text: '', fault: `has more than ${String(SECRET_BYTES)} bytes` };
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return text === '' ? { text, fault: 'is empty' } : { text, fault: null };
  } catch (error) {
    return { text: '', fault: `cannot be read (${String((error as NodeJS.ErrnoException).code)})` };
  }
}

/** What a client of an engine names in PEM: the ends of its variables. */
export const PEM = ['CA_FILE', 'CERT_FILE', 'KEY_FILE'] as const;

/** The files that variables name; one that cannot be read is a fault. */
export class PemFiles {
  readonly #env: Environment;
  readonly #faults: string[];

  constructor(env: Environment, faults: string[]) {
    this.#env = env;
    this.#faults = faults;
  }

  /** What the files of this engine hold. */
  of(kind: 'KAFKA' | 'CLICKHOUSE'): Tls {
    const [ca, cert, key] = PEM.map((name) => this.#read(`LOGWEIR_${kind}_${name}`));
    return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
  }

  #read(name: string): string | undefined {
    const file = this.#env[name];
    if (file === undefined) return undefined;
    try {
      const text = readFileSync(String(file), 'utf8');
      if (text.includes('-----BEGIN ')) return text;
      this.#faults.push(`${name}: ${String(file)} is not in PEM`);
    } catch (error) {
      this.#faults.push(`${name}: ${String(file)} cannot be read (${String((error as NodeJS.ErrnoException).code)})`);
    }
    return undefined;
  }
}

/** The files of the public listeners' TLS; null: they speak HTTP. */
export const listenerTls = (certFile: string, keyFile: string): { readonly certFile: string; readonly keyFile: string } | null =>
  certFile === '' ? null : { certFile, keyFile };

import Joi from 'joi';
import path from 'node:path';
import type { Sasl } from '../../pipeline/core/config.ts';
import type { Tls } from '../../pipeline/core/config-files.ts';

/** Topics of a Kafka that is not ours, which are pulled. */
export type KafkaDoor = {
  readonly name: string;
  readonly kind: 'kafka';
  /** Under which all records are taken. */
  readonly key: string;
  /** As in the query of the format's path. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly brokers: readonly string[];
  readonly topics: readonly string[];
  /** Each topic has a consumer group of its own, `GROUP.TOPIC`: one that is missing does not stop the others. */
  readonly group: string;
  /** Where a partition begins of which the group has committed nothing. */
  readonly from: 'beginning' | 'latest';
  /** The name of a wire format, and the media type of the records; empty where their bytes show it. */
  readonly format: string;
  readonly contentType: string;
  /** Null: connections are not encrypted. */
  readonly tls: Tls | null;
  readonly sasl: Sasl | null;
};

/** Of one door. */
const MAX_BROKERS = 32;
const MAX_TOPICS = 16;

/** The formats that need nothing of a request but its body. */
const FORMATS = [
  ...['json', 'es_bulk', 'loki', 'otlp_logs', 'otlp_traces', 'otlp_metrics', 'syslog', 'gelf', 'hec_event', 'hec_raw'],
  ...['fluent', 'influx', 'zipkin'],
];

const file = Joi.string().max(4096);
const text = Joi.string().max(1000);

/** The members of such a door, beside those that all have. */
export const kafkaMembers = {
  key_file: file.required(),
  brokers: Joi.array()
    .min(1)
    .max(MAX_BROKERS)
    .items(Joi.string().pattern(/^(?:\[[0-9a-f:.]{2,45}\]|[^\s:/,[\]]{1,255}):\d{1,5}$/i, 'host:port'))
    .required(),
  topics: Joi.array()
    .min(1)
    .max(MAX_TOPICS)
    .unique()
    .items(Joi.string().pattern(/^[\w.-]{1,249}$/, "Kafka's names of topics"))
    .required(),
  group: Joi.string().pattern(/^[\x21-\x7e]{1,200}$/, 'visible ASCII'),
  from: Joi.string().valid('beginning', 'latest').default('beginning'),
  format: Joi.string()
    .valid(...FORMATS)
    .required(),
  content_type: Joi.string().max(200).lowercase().default(''),
  tls: Joi.object({ ca_file: file, cert_file: file, key_file: file }).and('cert_file', 'key_file'),
  sasl: Joi.object({
    mechanism: Joi.string().valid('plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer').required(),
    username: text,
    password_file: file,
    token_file: file,
    token_command: text,
  }).when('.mechanism', {
    is: 'oauthbearer',
    then: Joi.object({ username: Joi.forbidden(), password_file: Joi.forbidden() }).xor('token_file', 'token_command'),
    otherwise: Joi.object({
      username: Joi.required(),
      password_file: Joi.required(),
      token_file: Joi.forbidden(),
      token_command: Joi.forbidden(),
    }),
  }),
};

/** As the file has it. */
export type RawKafkaDoor = {
  readonly name: string;
  readonly kind: 'kafka';
  readonly key_file: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly brokers: readonly string[];
  readonly topics: readonly string[];
  readonly group?: string;
  readonly from: KafkaDoor['from'];
  readonly format: string;
  readonly content_type: string;
  readonly tls?: Readonly<Partial<Record<'ca_file' | 'cert_file' | 'key_file', string>>>;
  readonly sasl?: {
    readonly mechanism: Sasl['mechanism'];
    readonly username?: string;
    readonly password_file?: string;
    readonly token_file?: string;
    readonly token_command?: string;
  };
};

/** `read`: what a file holds, whose name is relative to `folder`. */
type Files = { readonly read: (file: string) => string; readonly folder: string };

export function kafkaDoorOf(raw: RawKafkaDoor, { read, folder }: Files): KafkaDoor {
  const { name, kind, parameters, brokers, topics, from, format, tls, sasl } = raw;
  const pem = (member: keyof Tls, of?: string): Partial<Tls> => (of === undefined ? {} : { [member]: read(of) });
  return {
    ...{ name, kind, parameters, brokers, topics, from, format },
    key: read(raw.key_file).trim(),
    group: raw.group ?? `logweir-${name}`,
    contentType: raw.content_type,
    tls: tls === undefined ? null : { ...pem('ca', tls.ca_file), ...pem('cert', tls.cert_file), ...pem('key', tls.key_file) },
    sasl: sasl === undefined ? null : saslOf(sasl, { read, folder }),
  };
}

function saslOf(raw: NonNullable<RawKafkaDoor['sasl']>, { read, folder }: Files): Sasl {
  const { mechanism, username = '', password_file: passwordFile = '', token_file: tokenFile, token_command: tokenCommand = '' } = raw;
  if (mechanism !== 'oauthbearer') return { mechanism, username, password: read(passwordFile).replace(/\r?\n$/, '') };
  return tokenFile === undefined ? { mechanism, tokenCommand } : { mechanism, tokenFile: path.resolve(folder, tokenFile) };
}

/** What no schema says. */
export function kafkaFaults({ name, key, tls, sasl }: KafkaDoor): string[] {
  const of = `the door ${name}`;
  const faults: string[] = [];
  if (key === '') faults.push(`${of} has a key_file without a key`);
  for (const pem of Object.values(tls ?? {})) if (!pem.includes('-----BEGIN ')) faults.push(`${of} has a file of tls that is not in PEM`);
  const isOpen = sasl?.mechanism === 'plain' || sasl?.mechanism === 'oauthbearer';
  if (isOpen && tls === null)
    faults.push(`${of} would send its ${sasl.mechanism === 'plain' ? 'password' : 'token'} over a connection without tls`);
  if (sasl !== null && 'password' in sasl && sasl.password === '') faults.push(`${of} has a password_file without a password`);
  return faults;
}

import { readFileSync } from 'node:fs';
import path from 'node:path';
import Joi from 'joi';
import type { ListenerTlsFiles } from '../http/listener-tls.ts';
import { kafkaDoorOf, kafkaFaults, kafkaMembers, type KafkaDoor, type RawKafkaDoor } from './kafka-door-file.ts';

/** A client that is known by its certificate, and the key under which it sends. */
export type DoorClient = { readonly name?: string; readonly fingerprint?: string; readonly key: string };

type Named = {
  readonly name: string;
  /** The key of what comes without one of its own; null: that is refused. */
  readonly key: string | null;
  /** As in the query of the format's path. */
  readonly parameters: Readonly<Record<string, string>>;
};
type Listening = Named & { readonly host: string; readonly port: number };
type Connected = Listening & {
  readonly tls: ListenerTlsFiles | null;
  readonly clients: readonly DoorClient[];
  readonly maxConnections: number;
  readonly maxConnectionsOfAddress: number;
  readonly maxConnectionsOfTenant: number;
};

/** Syslog over TCP, or TLS. */
export type SyslogTcpDoor = Connected & { readonly kind: 'syslog_tcp'; readonly hasKeyInData: boolean };
export type SyslogUdpDoor = Listening & { readonly kind: 'syslog_udp'; readonly hasKeyInData: boolean };
/** OTLP over gRPC. */
export type OtlpGrpcDoor = Connected & { readonly kind: 'otlp_grpc' };
/** A door that others connect to. */
export type ListeningDoor = SyslogTcpDoor | SyslogUdpDoor | OtlpGrpcDoor;
export type Door = ListeningDoor | KafkaDoor;

/** Of one file. */
const MAX_DOORS = 64;
const MAX_CLIENTS = 1000;
const MAX_FILE_BYTES = 1_048_576;
/** Topics of all doors together: each has a connection to every broker, and a fetch of its own in memory. */
const MAX_ALL_TOPICS = 32;

const file = Joi.string().max(4096);
const name = Joi.string()
  .pattern(/^[a-z0-9][a-z0-9_-]{0,39}$/)
  .required();
const parameters = Joi.object().pattern(Joi.string().max(64), Joi.string().allow('').max(1000)).default({});
const listening = { name, host: Joi.string().hostname().default('127.0.0.1'), port: Joi.number().integer().min(0).max(65_535).required() };
const common = { key_file: file, parameters };
const connected = {
  ...listening,
  ...common,
  tls: Joi.object({ cert_file: file.required(), key_file: file.required(), client_ca_file: file }),
  clients: Joi.array()
    .max(MAX_CLIENTS)
    .items(
      Joi.object({
        name: Joi.string().max(255),
        fingerprint: Joi.string().pattern(/^(?:sha-?256:)?(?:[0-9a-f]{2}:?){32}$/i),
        key_file: file.required(),
      }).xor('name', 'fingerprint'),
    )
    .default([]),
  max_connections: Joi.number().integer().min(1).max(10_000).default(512),
  max_connections_of_address: Joi.number().integer().min(1).max(10_000).default(64),
  max_connections_of_tenant: Joi.number().integer().min(1).max(10_000),
};
const inData = { key_in_structured_data: Joi.boolean().default(false) };
const schema = Joi.object({
  doors: Joi.array()
    .max(MAX_DOORS)
    .unique('name')
    .items(
      Joi.object({ kind: Joi.string().required() })
        .unknown()
        .when('.kind', {
          switch: [
            { is: 'syslog_tcp', then: Joi.object({ kind: 'syslog_tcp', ...connected, ...inData }).unknown(false) },
            { is: 'syslog_udp', then: Joi.object({ kind: 'syslog_udp', ...listening, ...common, ...inData }).unknown(false) },
            { is: 'otlp_grpc', then: Joi.object({ kind: 'otlp_grpc', ...connected }).unknown(false) },
            { is: 'kafka', then: Joi.object({ kind: 'kafka', name, parameters, ...kafkaMembers }).unknown(false) },
          ],
          otherwise: Joi.object({ kind: Joi.valid('syslog_tcp', 'syslog_udp', 'otlp_grpc', 'kafka') }),
        }),
    )
    .required(),
});

/** As the file has it. */
type Raw = RawListening | RawKafkaDoor;
type RawListening = {
  readonly name: string;
  readonly kind: ListeningDoor['kind'];
  readonly host: string;
  readonly port: number;
  readonly key_file?: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly tls?: Readonly<Partial<Record<'cert_file' | 'key_file' | 'client_ca_file', string>>>;
  readonly clients: readonly { readonly name?: string; readonly fingerprint?: string; readonly key_file: string }[];
  readonly max_connections: number;
  readonly max_connections_of_address: number;
  readonly max_connections_of_tenant?: number;
  readonly key_in_structured_data: boolean;
};

/**
 * The doors of the file that `LOGWEIR_DOORS` names (docs/doors.md); none where that is empty. Files that it names are relative to its folder.
 * Throws an Error whose sentence has every fault.
 */
export function readDoors(doorsFile: string): readonly Door[] {
  if (doorsFile === '') return [];
  const faults: string[] = [];
  const read = (from: string): string => {
    try {
      return readFileSync(path.resolve(path.dirname(doorsFile), from), 'utf8');
    } catch (error) {
      faults.push(`${from} cannot be read (${String((error as NodeJS.ErrnoException).code)})`);
      return '';
    }
  };
  const raw = checked(read(path.resolve(doorsFile)), faults);
  const files = { read, folder: path.dirname(doorsFile) };
  const doors = raw.map((one) => (one.kind === 'kafka' ? kafkaDoorOf(one, files) : doorOf(one, files)));
  for (const door of doors) faults.push(...(door.kind === 'kafka' ? kafkaFaults(door) : contradictions(door)));
  const topics = doors.reduce((sum, door) => sum + (door.kind === 'kafka' ? door.topics.length : 0), 0);
  if (topics > MAX_ALL_TOPICS) faults.push(`its doors have ${String(topics)} topics; they may have ${String(MAX_ALL_TOPICS)} together`);
  if (faults.length > 0) throw new Error(`The doors of LOGWEIR_DOORS, ${doorsFile}, are wrong: ${faults.join('; ')}.`);
  return doors;
}

function checked(text: string, faults: string[]): readonly Raw[] {
  if (faults.length > 0) return [];
  try {
    if (text.length > MAX_FILE_BYTES) throw new Error(`it has more than ${String(MAX_FILE_BYTES)} bytes`);
    const result = schema.validate(JSON.parse(text), { abortEarly: false });
    if (result.error === undefined) return (result.value as { readonly doors: readonly Raw[] }).doors;
    faults.push(...result.error.details.map(({ message }) => message));
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  }
  return [];
}

type Files = { readonly read: (file: string) => string; readonly folder: string };

function doorOf(raw: RawListening, { read, folder }: Files): ListeningDoor {
  const { kind, host, port, parameters: given, tls } = raw;
  const secret = (from: string): string => read(from).trim();
  const key = raw.key_file === undefined ? null : secret(raw.key_file);
  const named = { name: raw.name, key, parameters: given };
  if (kind === 'syslog_udp') return { ...named, kind, host, port, hasKeyInData: raw.key_in_structured_data };
  const at = (from = ''): string => path.resolve(folder, from);
  const caFile = tls?.client_ca_file;
  const clients = raw.clients.map(({ key_file: keyFile, ...client }) => ({ ...client, key: secret(keyFile) }));
  const isOfOne =
    kind === 'syslog_tcp' &&
    !raw.key_in_structured_data &&
    new Set([...(key === null ? [] : [key]), ...clients.map((one) => one.key)]).size === 1;
  const connectedDoor = {
    ...{ ...named, host, port, clients },
    tls:
      tls === undefined
        ? null
        : { certFile: at(tls.cert_file), keyFile: at(tls.key_file), ...(caFile === undefined ? {} : { caFile: at(caFile) }) },
    maxConnections: raw.max_connections,
    maxConnectionsOfAddress: raw.max_connections_of_address,
    // where all have one key, there is nobody to leave places to
    maxConnectionsOfTenant: raw.max_connections_of_tenant ?? (isOfOne ? raw.max_connections : Math.ceil(raw.max_connections / 2)),
  };
  return kind === 'otlp_grpc' ? { ...connectedDoor, kind } : { ...connectedDoor, kind, hasKeyInData: raw.key_in_structured_data };
}

/** What no schema says. */
function contradictions(door: ListeningDoor): string[] {
  const of = `the door ${door.name}`;
  const faults: string[] = [];
  if (door.key === '') faults.push(`${of} has a key_file without a key`);
  const hasData = door.kind !== 'otlp_grpc' && door.hasKeyInData;
  const clients = door.kind === 'syslog_udp' ? [] : door.clients;
  if (door.kind !== 'otlp_grpc' && door.key === null && !hasData && clients.length === 0)
    faults.push(`${of} has no key: give key_file, clients, or key_in_structured_data`);
  if (door.kind === 'syslog_udp') return faults;
  if (clients.length > 0 && door.tls === null) faults.push(`${of} has clients, which are known by certificates, and no tls`);
  if (clients.some((client) => client.name !== undefined) && door.tls?.caFile === undefined)
    faults.push(`${of} has clients by name: these need tls.client_ca_file, whose names are believed`);
  if (clients.some(({ key }) => key === '')) faults.push(`${of} has clients with a key_file without a key`);
  return faults;
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { atEnd } from '../../../at-end.ts';
import { freePorts } from '../../../free-ports.ts';
import { Authority } from '../../certificates.ts';
import { shareWith } from '../../shared.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-doors-e2e-'));
/** Of the door of TLS, and of its client `web-1`. */
export const doorAuthority = new Authority(path.join(folder, 'ca'));
/** Where the doors of the shared instance listen, once it runs. */
export const doorPorts = { tcp: 0, tls: 0, udp: 0, grpc: 0 };
/** The file with the key of the first tenant. */
export const doorKeyFile = path.join(folder, 'web.key');

const further: (() => Promise<readonly object[]>)[] = [];

/** Gives the shared instance its doors, and further ones: said as a file is loaded. */
export function shareDoors(more: () => Promise<readonly object[]> = () => Promise.resolve([])): void {
  if (further.length === 0) shareWith(writeDoors);
  further.push(more);
}

async function writeDoors(): Promise<Readonly<Record<string, string>>> {
  const [tcp = 0, tls = 0, udp = 0, grpc = 0] = await freePorts(4);
  Object.assign(doorPorts, { tcp, tls, udp, grpc });
  const own = doorAuthority.issue('localhost');
  writeFileSync(doorKeyFile, 'e2e-key_0123456789\n');
  const doors = [
    { name: 'tcp', kind: 'syslog_tcp', port: tcp, key_in_structured_data: true },
    {
      ...{ name: 'tls', kind: 'syslog_tcp', port: tls, clients: [{ name: 'web-1', key_file: doorKeyFile }] },
      tls: { cert_file: own.cert, key_file: own.key, client_ca_file: doorAuthority.ca },
    },
    { name: 'udp', kind: 'syslog_udp', port: udp, key_in_structured_data: true },
    { name: 'grpc', kind: 'otlp_grpc', port: grpc },
    ...(await Promise.all(further.map((more) => more()))).flat(),
  ];
  const file = path.join(folder, 'doors.json');
  writeFileSync(file, JSON.stringify({ doors }));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return { LOGWEIR_DOORS: file };
}

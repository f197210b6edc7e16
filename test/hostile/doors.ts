import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePorts } from '../free-ports.ts';

/** Where the doors of an instance listen: `http://127.0.0.1:PORT`, though they do not speak HTTP. */
export type DoorUrls = { readonly syslog: string; readonly otlp: string };

/** Doors that everybody may use, and the settings of an instance that has them. */
export async function hostileDoors(): Promise<{ readonly urls: DoorUrls; readonly env: Readonly<Record<string, string>> }> {
  const [syslog = 0, otlp = 0] = await freePorts(2);
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'logweir-hostile-')), 'doors.json');
  const doors = [
    { name: 'syslog', kind: 'syslog_tcp', port: syslog, key_in_structured_data: true },
    { name: 'otlp', kind: 'otlp_grpc', port: otlp },
  ];
  writeFileSync(file, JSON.stringify({ doors }));
  const url = (port: number): string => `http://127.0.0.1:${String(port)}`;
  return { urls: { syslog: url(syslog), otlp: url(otlp) }, env: { LOGWEIR_DOORS: file } };
}

/** A frame of syslog with a key in its structured data. */
export const frameWithKey = (key: string, service: string, message: string): string =>
  `<13>1 - h ${service} - - [logweir@32473 key="${key}"] ${message}\n`;

import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions, type Server, type TlsOptions } from 'node:tls';
import type { Logger } from 'pino';
import { repeat } from '../../pipeline/core/repeat.ts';
import type { Service } from '../../pipeline/core/service.ts';

/** PEM files of a listener: its certificate with those between it and its authority, its private key, and the authority of its clients. */
export type ListenerTlsFiles = { readonly certFile: string; readonly keyFile: string; readonly caFile?: string };

export type ListenerTlsOptions = ListenerTlsFiles & {
  readonly name: string;
  readonly log: Logger;
  /** How often the files are looked at, milliseconds. */
  readonly everyMs?: number;
};

/** Time between two looks at the files. Milliseconds. */
const EVERY_MS = 5000;
/** Files of certificates are a few KiB. */
const MAX_PEM_BYTES = 1_048_576;

/** The TLS of a listener. Files that change are read again: connections from then on get the new certificate, those that are open go on. */
export class ListenerTls implements Service {
  readonly name: string;
  readonly #options: ListenerTlsOptions;
  readonly #servers = new Set<Server>();
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #seen: string;
  #context: SecureContextOptions;

  /** Throws an Error with a sentence where the files cannot be used. */
  constructor(options: ListenerTlsOptions) {
    this.#options = options;
    this.name = `TLS of ${options.name}`;
    this.#seen = stampOf(options);
    this.#context = readContext(options);
  }

  /** What a server is made with. */
  get serverOptions(): TlsOptions {
    return this.#context;
  }

  /** True where clients must show a certificate of the authority. */
  get verifiesClients(): boolean {
    return this.#options.caFile !== undefined;
  }

  /** Has a server use what the files hold, now and later. */
  serve(server: Server): void {
    this.#servers.add(server);
  }

  start(): Promise<void> {
    const { everyMs = EVERY_MS } = this.#options;
    this.#running = repeat(everyMs, this.#stop.signal, () => {
      this.look();
      return Promise.resolve();
    });
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Reads files that have changed. Those that cannot be used are logged, and the last ones stay. */
  look(): void {
    const { log, certFile } = this.#options;
    try {
      const stamp = stampOf(this.#options);
      if (stamp === this.#seen) return;
      this.#seen = stamp;
      this.#context = readContext(this.#options);
      for (const server of this.#servers) server.setSecureContext(this.#context);
      log.info({ certFile }, 'The certificate of a listener was read again.');
    } catch (error) {
      log.warn({ err: error, certFile }, 'The new certificate of a listener cannot be used; the last one stays.');
    }
  }
}

/** Changes with each of the files. */
function stampOf({ certFile, keyFile, caFile }: ListenerTlsFiles): string {
  const files = caFile === undefined ? [certFile, keyFile] : [certFile, keyFile, caFile];
  return files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? 'none' : `${String(stat.mtimeMs)}/${String(stat.size)}/${String(stat.ino)}`;
    })
    .join(' ');
}

function readContext({ name, certFile, keyFile, caFile }: ListenerTlsOptions): SecureContextOptions {
  const read = (file: string): string => {
    try {
      const bytes = readFileSync(file);
      if (bytes.length > MAX_PEM_BYTES || !bytes.includes('-----BEGIN ')) throw new Error('it is not in PEM');
      return bytes.toString('utf8');
    } catch (error) {
      throw new Error(`The file ${file} of the TLS of ${name} cannot be read.`, { cause: error });
    }
  };
  const context: SecureContextOptions = {
    ...{ cert: read(certFile), key: read(keyFile), minVersion: 'TLSv1.2' },
    ...(caFile === undefined ? {} : { ca: read(caFile) }),
  };
  try {
    createSecureContext(context);
  } catch (error) {
    throw new Error(`The certificate ${certFile} and the key ${keyFile} of ${name} cannot be used together.`, { cause: error });
  }
  return context;
}

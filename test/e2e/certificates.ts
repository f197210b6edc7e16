import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A certificate and its key, as files in PEM. */
export type Certificate = { readonly cert: string; readonly key: string };

/** An authority that tests make for themselves, in a folder of theirs. */
export class Authority {
  readonly #folder: string;
  readonly #own: Certificate;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#own = this.#files('ca');
    this.#openssl(
      'req',
      '-x509',
      '-subj',
      '/CN=test authority',
      '-days',
      '2',
      '-nodes',
      ...NEW_KEY,
      '-keyout',
      this.#own.key,
      '-out',
      this.#own.cert,
    );
  }

  /** The file of its certificate. */
  get ca(): string {
    return this.#own.cert;
  }

  /** A certificate for this name, for so many days from now on; less than none: one that has ended. */
  issue(name: string, days = 2): Certificate {
    const made = this.#files(name);
    const request = path.join(this.#folder, `${name}.csr`);
    const extensions = path.join(this.#folder, `${name}.ext`);
    writeFileSync(extensions, `subjectAltName=DNS:${name}\n`);
    this.#openssl('req', '-new', '-subj', `/CN=${name}`, '-nodes', ...NEW_KEY, '-keyout', made.key, '-out', request);
    const signer = ['-CA', this.#own.cert, '-CAkey', this.#own.key, '-CAcreateserial'];
    this.#openssl('x509', '-req', '-in', request, ...signer, '-days', String(days), '-extfile', extensions, '-out', made.cert);
    return made;
  }

  #files(name: string): Certificate {
    return { cert: path.join(this.#folder, `${name}.crt`), key: path.join(this.#folder, `${name}.key`) };
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { stdio: 'pipe' });
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

/** The text of a file. */
export const textOf = (file: string): string => readFileSync(file, 'utf8');

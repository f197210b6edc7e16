import type { TLSSocket } from 'node:tls';
import { forbidden, unauthorized } from '../../pipeline/core/errors.ts';
import { authenticate, authorize, type KeyStore } from '../auth/authenticate.ts';
import type { Principal } from '../tenants/principal.ts';
import type { DoorClient } from './doors-file.ts';

/** The principal of a key that may send, as it is now. Throws HttpError as for a request of the ingest host. */
export function principalOf(key: string | null, keys: KeyStore, missing: string): Principal {
  const principal = authenticate(key, keys, Date.now(), 'ingest', missing);
  authorize(principal, 'ingest', undefined);
  return principal;
}

/** What of a client's certificate is looked at. */
export type ShownCertificate = {
  readonly fingerprint256?: string;
  readonly subject?: { readonly CN?: unknown };
  readonly subjectaltname?: string;
};

/** Finds the key of a client by its certificate: by a fingerprint (RFC 5425, 4.2.2), or by a name that the listener's authority has signed. */
export class ClientKeys {
  readonly #byFingerprint = new Map<string, string>();
  readonly #byName = new Map<string, string>();

  constructor(clients: readonly DoorClient[]) {
    for (const { name, fingerprint, key } of clients) {
      if (fingerprint !== undefined) this.#byFingerprint.set(hexOf(fingerprint), key);
      if (name !== undefined) this.#byName.set(name.toLowerCase(), key);
    }
  }

  /** The key of the client behind a connection; null where it is none of the list. */
  of(socket: Pick<TLSSocket, 'authorized'> & { getPeerCertificate(): ShownCertificate | null }): string | null {
    const certificate = socket.getPeerCertificate();
    return certificate === null ? null : this.ofCertificate(certificate, socket.authorized);
  }

  /** `isSigned`: the listener's authority has signed it. */
  ofCertificate({ fingerprint256, subject, subjectaltname = '' }: ShownCertificate, isSigned: boolean): string | null {
    if (fingerprint256 === undefined) return null;
    const known = this.#byFingerprint.get(hexOf(fingerprint256));
    if (known !== undefined) return known;
    if (!isSigned) return null;
    for (const name of namesOf(subject?.CN, subjectaltname)) {
      const key = this.#byName.get(name);
      if (key !== undefined) return key;
    }
    return null;
  }
}

/** The refusal of what comes without any key. */
export const keyless = (door: string): string => `No API key was found: nothing that came in at the door ${door} names one.`;

/** Whether an error means that a key is not accepted. */
export const isOfKey = ({ status }: ReturnType<typeof forbidden | typeof unauthorized>): boolean => status === 401 || status === 403;

/** DNS names of the alternative names, and without those the common name (RFC 6125, 6.4.4). */
function namesOf(commonName: unknown, alternatives: string): string[] {
  const names = alternatives
    .split(', ')
    .filter((one) => one.startsWith('DNS:'))
    .map((one) => one.slice('DNS:'.length).toLowerCase());
  return names.length > 0 ? names : typeof commonName === 'string' ? [commonName.toLowerCase()] : [];
}

const hexOf = (fingerprint: string): string =>
  fingerprint
    .replace(/^sha-?256:/i, '')
    .replaceAll(':', '')
    .toLowerCase();

import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a browser session is: the key that it stands for, the beginning of that key's hash, which changes with its secret, and when it ends. */
export type SessionClaims = {
  readonly keyId: string;
  readonly hash: string;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly expiresAt: number;
};

/** Characters of a token at most. */
const MAX_TOKEN = 1024;
const FORM = /^v1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/;

/**
 * Signs sessions under the pepper of the keys, which every node has: so each node knows a session that any of them has begun, and nothing is
 * stored of one until it signs out.
 */
export class SessionTokens {
  readonly #secret: Buffer;
  /** The name of the cookie. Ports share cookies: instances on one machine, which have other peppers, have other names. */
  readonly cookie: string;

  constructor(pepper: string) {
    this.#secret = createHmac('sha256', pepper).update('browser session v1').digest();
    this.cookie = `logweir_session_${createHmac('sha256', this.#secret).update('cookie name').digest('hex').slice(0, 8)}`;
  }

  sign({ keyId, hash, id, startedAt, expiresAt }: SessionClaims): string {
    const body = Buffer.from(JSON.stringify([keyId, hash, id, startedAt, expiresAt])).toString('base64url');
    return `v1.${body}.${this.#mac(body).toString('base64url')}`;
  }

  /** What a token that was signed here says, also when it has expired; null for any other. */
  read(token: string): SessionClaims | null {
    const [, body = '', mac = ''] = token.length > MAX_TOKEN ? [] : (FORM.exec(token) ?? []);
    if (body === '') return null;
    // as text: base64 has several spellings of the same bytes, of which one was signed here
    const right = this.#mac(body).toString('base64url');
    if (mac.length !== right.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(right))) return null;
    const [keyId, hash, id, startedAt, expiresAt] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [string, string, string, number, number]; // prettier-ignore
    return { keyId, hash, id, startedAt, expiresAt };
  }

  #mac(body: string): Buffer {
    return createHmac('sha256', this.#secret).update(body).digest();
  }
}

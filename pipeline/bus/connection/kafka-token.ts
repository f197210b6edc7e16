import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Where the token of a client lies, or what prints it. */
export type TokenOrigin = { readonly tokenFile: string } | { readonly tokenCommand: string };

/** Of what a command may print, and how long it may take. */
const [MOST_BYTES, COMMAND_MS] = [65_536, 10_000];
/** How long a printed token is used whose end is unknown; and of the others, the share of their time. */
const [UNKNOWN_MS, SHARE] = [60_000, 0.8];

/**
 * Gives the token to connect with. A file is read each time: whatever replaces it is used by the next connection. A command is run once for
 * all connections that are made meanwhile, and again when four fifths of the token's time have passed.
 */
export function tokenSource(origin: TokenOrigin, now: () => number = Date.now): () => Promise<string> {
  if ('tokenFile' in origin) return async () => checked(await readFile(origin.tokenFile, 'utf8'), `the file ${origin.tokenFile}`);
  let kept: { readonly token: Promise<string>; until: number } | null = null;
  return () => {
    if (kept !== null && now() < kept.until) return kept.token;
    const fresh = { token: printed(origin.tokenCommand), until: Infinity };
    kept = fresh;
    fresh.token.then(
      (token) => (fresh.until = usedUntil(token, now())),
      () => (fresh.until = 0),
    );
    return fresh.token;
  };
}

async function printed(command: string): Promise<string> {
  const options = { timeout: COMMAND_MS, maxBuffer: MOST_BYTES, killSignal: 'SIGKILL' as const };
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], options).catch((error: unknown) => {
    const { code, signal } = error as { readonly code?: unknown; readonly signal?: unknown };
    // what it has printed may be a secret
    throw new Error(`LOGWEIR_KAFKA_SASL_TOKEN_COMMAND failed (${String(code ?? signal)}).`);
  });
  return checked(stdout, 'what LOGWEIR_KAFKA_SASL_TOKEN_COMMAND prints');
}

/** A token as RFC 6750 has it: nothing else may stand in the message to the broker. */
function checked(text: string, where: string): string {
  const token = text.trim();
  if (token.length <= MOST_BYTES && /^[A-Za-z0-9._~+/-]+=*$/.test(token)) return token;
  throw new Error(`Kafka cannot be given a token: ${where} does not have the form of one.`);
}

/** When a token that was made now is replaced. */
export function usedUntil(token: string, now: number): number {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { readonly exp?: unknown };
    if (typeof exp === 'number') return now + SHARE * Math.max(0, exp * 1000 - now);
  } catch {
    // not a JWT
  }
  return now + UNKNOWN_MS;
}

/**
 * Who is signed in: with a key, which is in this tab's sessionStorage alone (in no address, no log and no other storage), or with a cookie that the
 * service gave for a one-time code.
 */
import { computed, signal } from '@preact/signals';
import { ApiError, Client, type Answer } from '../../client/client.ts';
import { hrefOf, navigate, route } from './route.ts';

type Known = Answer<'GET /api/v1/account/key'>;
export type Scope = Known['scopes'][number];
/** `key`: null where a cookie stands for it. */
export type Session = { readonly key: string | null; readonly known: Known };

const STORED = 'logweir.key';
/** That this tab was signed in with a code; the cookie itself cannot be read here. */
const WITH_COOKIE = 'logweir.cookie';

export const session = signal<Session | null>(null);
/** What keeps the one who was here from being so; null: nothing. */
export const signInProblem = signal<Error | null>(null);

export const client = computed(() => new Client({ key: session.value?.key ?? null }));
export const tenantId = computed(() => session.value?.known.tenant_id ?? 0);

/** Signs in with a key; throws where it is refused. */
export async function signIn(key: string): Promise<void> {
  await enter(key);
  sessionStorage.setItem(STORED, key);
}

/** Signs in with a one-time code, which `npm start` and `logweir admin session code` print; throws where it is refused. */
async function signInWithCode(given: string): Promise<void> {
  await new Client({}).call('POST /api/v1/session', { body: { code: given } });
  code = null;
  sessionStorage.setItem(WITH_COOKIE, '1');
  await enter(null);
}

async function enter(key: string | null): Promise<void> {
  const known = await new Client({ key }).call('GET /api/v1/account/key', {});
  signInProblem.value = null;
  session.value = { key, known };
  const { tenant, page, params, rest } = route.peek();
  // an address of another tenant stays, and is told of
  if (tenant === null || page === '') navigate(hrefOf(known.tenant_id, page === '' ? 'explore' : page, params, rest), { isReplaced: true });
}

/** The one-time code of the address, which is taken out of it at once; null: none. */
function codeOfAddress(): string | null {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return code;
}

/** The key that this tab was signed in with; null: none, or a cookie stands for it. */
export const keyOfTab = (): string | null => sessionStorage.getItem(STORED);

/** The code of the address, until the service has taken or refused it. */
let code: string | null = null;
const hasCookie = (): boolean => sessionStorage.getItem(WITH_COOKIE) !== null;

/** Whether this tab has something to sign in with: what it has is kept where the service could not look at it. */
export const canSignInAgain = (): boolean => code !== null || keyOfTab() !== null || hasCookie();

/** Signs in with the code of the address, the key that this tab still has, or its cookie. What keeps it from that is `signInProblem`. */
export async function signInAgain(): Promise<void> {
  code = codeOfAddress() ?? code;
  const key = keyOfTab();
  if (!canSignInAgain()) return;
  try {
    await (code !== null ? signInWithCode(code) : key !== null ? signIn(key) : enter(null));
  } catch (thrown) {
    const isForNow = !(thrown instanceof ApiError) || thrown.status === 429 || thrown.status >= 500;
    if (!isForNow) forget();
    signInProblem.value = thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

export function signOut(problem: Error | null = null): void {
  const isWithCookie = session.peek()?.key === null;
  forget();
  // the page is left for the sign-in whether or not the service is reached
  if (isWithCookie) new Client({}).call('DELETE /api/v1/session', {}).catch(() => undefined);
  signInProblem.value = problem;
  session.value = null;
}

/** Whether the service knows who is signed in: what a key may not do and a key that was revoked are both a 403. True where it cannot be told. */
export async function isStillKnown(): Promise<boolean> {
  try {
    await client.peek().call('GET /api/v1/account/key', {});
    return true;
  } catch (error) {
    return !(error instanceof ApiError && (error.status === 401 || error.status === 403));
  }
}

/** What a WebSocket of the pages offers: the service takes the first, and finds the key in the second; a cookie is sent by itself. */
export const socketProtocols = (key: string | null): string[] => (key === null ? ['logweir.v1'] : ['logweir.v1', `logweir.bearer.${key}`]);

function forget(): void {
  code = null;
  sessionStorage.removeItem(STORED);
  sessionStorage.removeItem(WITH_COOKIE);
}

/** Why the plan takes no new logs from any key; null where it does. */
export const takesNothing = (): string | null =>
  session.value?.known.bounds.daily_bytes === 0 ? 'The trial has expired: new logs are refused.' : null;

/** Why something is not possible with this key; null where it is. `of`: what it is of, as a key of a project has nothing of the whole tenant. */
export function lacks(scope: Scope, of: 'own' | 'tenant' = 'own'): string | null {
  const { known } = session.value ?? {};
  if (known === undefined) return 'Sign in first.';
  if (!known.scopes.includes(scope)) return `This key has no “${scope}” scope.`;
  if (of === 'tenant' && known.project !== null)
    return `This key is of the project “${known.project.name}”, and this is of the whole tenant.`;
  if (scope === 'ingest' && takesNothing() !== null) return takesNothing();
  return scope === 'write' && known.demo ? 'This is a public demo: nothing can be changed.' : null;
}

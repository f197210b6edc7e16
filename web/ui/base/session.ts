/** Who is signed in. The key is in this tab's sessionStorage alone: in no address, no log and no other storage. */
import { computed, signal } from '@preact/signals';
import { ApiError, Client, type Answer } from '../../client/client.ts';
import { hrefOf, navigate, route } from './route.ts';

type Known = Answer<'GET /api/v1/account/key'>;
export type Scope = Known['scopes'][number];
export type Session = { readonly key: string; readonly known: Known };

const STORED = 'logweir.key';

export const session = signal<Session | null>(null);
/** What keeps the one who was here from being so; null: nothing. */
export const signInProblem = signal<string | null>(null);

export const client = computed(() => new Client({ key: session.value?.key ?? null }));
export const tenantId = computed(() => session.value?.known.tenant_id ?? 0);

/** Signs in with a key; throws where it is refused. */
export async function signIn(key: string): Promise<void> {
  const known = await new Client({ key }).call('GET /api/v1/account/key', {});
  sessionStorage.setItem(STORED, key);
  signInProblem.value = null;
  session.value = { key, known };
  const { tenant, page, params, rest } = route.peek();
  if (tenant !== known.tenant_id) navigate(hrefOf(known.tenant_id, page === '' ? 'explore' : page, params, rest), { isReplaced: true });
}

/** Signs in with the key that this tab still has; false where it has none, or it is refused. */
export async function signInAgain(): Promise<boolean> {
  const key = sessionStorage.getItem(STORED);
  if (key === null) return false;
  try {
    await signIn(key);
    return true;
  } catch (error) {
    if (error instanceof ApiError) sessionStorage.removeItem(STORED);
    signInProblem.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}

export function signOut(problem: string | null = null): void {
  sessionStorage.removeItem(STORED);
  signInProblem.value = problem;
  session.value = null;
}

/** Why something is not possible with this key; null where it is. */
export function lacks(scope: Scope): string | null {
  const { known } = session.value ?? {};
  if (known === undefined) return 'Sign in first.';
  if (!known.scopes.includes(scope)) return `This key has no “${scope}” scope.`;
  return scope === 'write' && known.demo ? 'This is a public demo: nothing can be changed.' : null;
}

/** All requests of the pages: the typed client, with the tenant filled in. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, type Answer, type OperationName, type Taken } from '../../client/client.ts';
import { returns } from './connection.ts';
import { client, isStillKnown, signOut, tenantId } from './session.ts';

const PREFIX = '/api/v1/tenants/{tenant_id}';
type Short<Name> = Name extends `${infer Method} ${typeof PREFIX}${infer Path}` ? `${Method} ${Path}` : never;
/** An operation of the tenant, as `GET /hits`. */
export type TenantOperation = Short<OperationName>;
type Long<Name extends TenantOperation> = Name extends `${infer Method} ${infer Path}`
  ? Extract<`${Method} ${typeof PREFIX}${Path}`, OperationName>
  : never;
type Given<Name extends TenantOperation> = Omit<Taken<Long<Name>>, 'path'> & { readonly path?: Readonly<Record<string, string | number>> };
export type AnswerOf<Name extends TenantOperation> = Answer<Long<Name>>;

const nameOf = (name: string): string => name.replace(' ', ` ${PREFIX}`);

/** Requests something of the tenant. A key that is not accepted any more leads to the sign-in. */
export async function request<Name extends TenantOperation>(name: Name, given: Given<Name>, signal?: AbortSignal): Promise<AnswerOf<Name>> {
  try {
    const taken = { ...given, path: { ...given.path, tenant_id: tenantId.peek() } } as never;
    return (await client.peek().call(nameOf(name) as OperationName, taken, signal)) as AnswerOf<Name>;
  } catch (error) {
    const isRefused = error instanceof ApiError && (error.status === 401 || (error.status === 403 && !(await isStillKnown())));
    if (isRefused && signal?.aborted !== true) signOut(error);
    throw error;
  }
}

/** The reader has stopped a request before its first answer; the message tells so. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** What a panel shows of a request. While a later one runs, the value before stays. */
export type Loaded<T> = {
  readonly value: T | null;
  readonly error: Error | null;
  readonly isBusy: boolean;
  /** When it began, `performance.now()`. */
  readonly since: number;
  /** When the value came, milliseconds since the epoch; null: there is none. */
  readonly at: number | null;
  readonly again: () => void;
  readonly cancel: () => void;
};

type State<T> = Omit<Loaded<T>, 'again' | 'cancel'>;
const NOTHING = { value: null, error: null, isBusy: false, since: 0, at: null };

/** Tries again by itself once the service is reached, where it was not. */
export function useReturn(error: Error | null, again: () => void): void {
  const back = returns.value;
  const seen = useRef(back);
  useEffect(() => {
    if (seen.current === back) return;
    seen.current = back;
    if (error !== null && !(error instanceof ApiError) && !(error instanceof Stopped)) again();
  }, [back]);
}

/** Requests whenever the inputs change; null as `run` requests nothing. An earlier request is aborted. */
export function useRequest<T>(run: ((signal: AbortSignal) => Promise<T>) | null, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<State<T>>({ ...NOTHING, isBusy: run !== null });
  const [round, setRound] = useState(0);
  const running = useRef<AbortController | null>(null);
  useEffect(() => {
    if (run === null) {
      setState(NOTHING);
      return;
    }
    const controller = new AbortController();
    running.current = controller;
    setState((before) => ({ ...before, isBusy: true, since: performance.now() }));
    run(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ value, error: null, isBusy: false, since: 0, at: Date.now() });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setState((before) => ({ ...before, error: asError(error), isBusy: false }));
      },
    );
    return () => controller.abort();
  }, [...inputs, round]);
  useReturn(state.error, () => setRound((count) => count + 1));
  return {
    ...state,
    again: () => setRound((count) => count + 1),
    cancel: () => {
      running.current?.abort();
      setState((before) => ({
        ...before,
        isBusy: false,
        error: before.value === null ? new Stopped('Stopped before it was there.') : before.error,
      }));
    },
  };
}

const LATER_MS = 2000;

/** What came live is stored some seconds later, which nothing announces: where it is missing it is requested again, some times. */
export function useLater({ isBusy, again }: Pick<Loaded<unknown>, 'isBusy' | 'again'>, isMissing: boolean, most = 5): void {
  const looks = useRef(0);
  useEffect(() => {
    if (isBusy || !isMissing || looks.current >= most) return;
    const timer = setTimeout(() => {
      looks.current += 1;
      again();
    }, LATER_MS);
    return () => clearTimeout(timer);
  }, [isBusy, isMissing]);
}

export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

import { createSelectEndpoints } from '../../api/select/endpoints.ts';
import { queryRate, type QueryRate } from '../../api/limits/query-rate.ts';
import { LocalEngine } from '../../api/engine/local-engine.ts';
import { QueryRuntime } from '../../api/query/runtime.ts';
import type { Principal } from '../../api/tenants/principal.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { FakeKeyStore } from '../fakes/key-store.ts';
import { startHost } from '../fakes/test-host.ts';
import {
  WINDOW,
  comparePairs,
  compareRows,
  isPresent,
  loadBase,
  loadCases,
  loadEntries,
  type Case,
  type Row,
} from '../logsql/conformance.ts';
import { NOW, entryOf, nanoseconds, type Plain } from '../logsql/support.ts';
import { LogsqlStore } from './logsql-store.ts';

const LIMITS = { queryTimeoutSeconds: 30, maxFacetFields: 50, platformEntriesPerSecond: 0 };
const START = nanoseconds(WINDOW.start);

/** An entry so many seconds after the beginning of the window of the conformance cases. */
export const at = (seconds: number, fields: Plain = {}): LogEntry =>
  entryOf({ _time: formatTime(START + BigInt(Math.round(seconds * 1000)) * 1_000_000n), _stream: '{app="a"}', _msg: 'm', ...fields });

export type RuntimeSettings = { readonly now?: () => bigint; readonly seconds?: number; readonly rate?: QueryRate };

/** What query endpoints stand on, over this store. */
export const runtimeOver = (store: Store, { now = () => NOW, seconds = 30, rate }: RuntimeSettings = {}): QueryRuntime =>
  new QueryRuntime({
    engine: new LocalEngine({ store, now, limits: LIMITS }),
    limits: { ...LIMITS, queryTimeoutSeconds: seconds },
    ...(rate === undefined ? {} : { rate }),
  });

/** Puts the conformance entries into a tenant and runs cases of the endpoints: what each has against the answer, none where it is right. */
export async function faultsOf(
  own: LogsqlStore,
  tenantId: number,
  isAsked: (test: Case) => boolean,
  faultOf: (test: Case, base: readonly Row[]) => Promise<string | null>,
): Promise<readonly string[]> {
  if (!isPresent) throw new Error('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED');
  await own.insert(tenantId, loadEntries());
  const base = loadBase();
  const faults: string[] = [];
  for (const test of loadCases().filter(isAsked)) {
    const fault = await faultOf(test, base);
    if (fault !== null) faults.push(`${test.id} ${test.kind} ${test.query}\n    ${fault}`);
  }
  return faults;
}

export type Parameters = Readonly<Record<string, string | readonly string[]>>;
export type Answer = { readonly status: number; readonly type: string; readonly text: string; readonly headers: Headers };

/** Parameters as pairs, those with several values once for each. */
const pairs = (parameters: Parameters): [string, string][] =>
  Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one]));

/** VictoriaLogs' read API on a host of its own, over a ClickHouse of its own. */
export type SelectHost = {
  readonly own: LogsqlStore;
  readonly url: string;
  readonly keys: FakeKeyStore;
  call(name: string, parameters: Parameters, options?: { readonly key?: string; readonly method?: string }): Promise<Answer>;
  /** The JSON of an answer that must be a 200. */
  get<T>(name: string, parameters: Parameters, key?: string): Promise<T>;
  /** The rows of `query`. */
  rows(parameters: Parameters, key?: string): Promise<Plain[]>;
  stop(): Promise<void>;
};

/** Starts it with these keys; `one` is of tenant 1 unless it is given. */
export async function startSelect(
  principals: Readonly<Record<string, Partial<Principal>>>,
  settings: RuntimeSettings = {},
  open: () => Promise<LogsqlStore> = () => LogsqlStore.start(),
): Promise<SelectHost> {
  const own = await open();
  const keys = new FakeKeyStore({ one: { tenantId: 1 }, ...principals });
  const host = await startHost({
    endpoints: createSelectEndpoints(runtimeOver(own.store, { rate: queryRate(), ...settings })),
    keys,
  });
  const call: SelectHost['call'] = async (name, parameters, { key = 'one', method = 'GET' } = {}) => {
    const form = new URLSearchParams(pairs(parameters));
    const url = `${host.url}/select/logsql/${name}`;
    const response = await fetch(method === 'GET' ? `${url}?${form.toString()}` : url, {
      method,
      headers: { Authorization: `Bearer ${key}` },
      ...(method === 'GET' ? {} : { body: form }),
    });
    const type = response.headers.get('content-type') ?? '';
    return { status: response.status, type, text: await response.text(), headers: response.headers };
  };
  const ok = async (name: string, parameters: Parameters, key = 'one'): Promise<string> => {
    const { status, text } = await call(name, parameters, { key });
    if (status !== 200) throw new Error(`${name} answered ${String(status)}: ${text}`);
    return text;
  };
  return {
    own,
    url: host.url,
    keys,
    call,
    get: async <T>(name: string, parameters: Parameters, key?: string) => JSON.parse(await ok(name, parameters, key)) as T,
    rows: async (parameters, key) =>
      (await ok('query', parameters, key)).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Plain])),
    stop: async () => {
      await host.stop();
      await own.stop();
    },
  };
}

/** What `field_values` and its like answer. */
export type Values = { readonly values: readonly { readonly value: string; readonly hits: number }[] };

/** What the answer to a case has against it, of the tenant of this key; null where it is right. */
export function selectFaults({ call }: SelectHost, key: string): (test: Case, base: readonly Row[]) => Promise<string | null> {
  return async (test, base) => {
    const window = { start: test.start ?? WINDOW.start, end: test.end ?? WINDOW.end, query: test.query };
    const name = test.kind === 'search' ? 'query' : test.kind;
    const answer = await call(
      name,
      {
        ...window,
        ...(test.field === undefined ? {} : { field: test.field }),
        ...(test.limit === undefined ? {} : { limit: String(test.limit) }),
        ...(test.kind === 'hits' ? { step: test.step ?? '1m', field: test.fields_by ?? [] } : {}),
      },
      { key },
    );
    if (test.expect.error === true) return answer.status === 400 ? null : `status ${String(answer.status)}`;
    if (answer.status !== 200) return answer.text;
    if (test.kind === 'search') {
      const lines = answer.text.split('\n').filter((line) => line !== '');
      return compareRows(
        test,
        lines.map((line) => new Map(Object.entries(JSON.parse(line) as Record<string, string>))),
        base,
      );
    }
    if (test.kind !== 'hits')
      return comparePairs(
        test,
        (JSON.parse(answer.text) as Values).values.map(({ value, hits }) => [value, hits]),
      );
    const { hits } = JSON.parse(answer.text) as {
      readonly hits: readonly {
        readonly fields: Readonly<Record<string, string>>;
        readonly timestamps: readonly string[];
        readonly values: readonly number[];
      }[];
    };
    const counted = hits.flatMap(({ fields, timestamps, values }) =>
      timestamps.map(
        (time, index) => new Map([...Object.entries(fields), ['time', time], ['hits', String(values[index])]] as [string, string][]),
      ),
    );
    return compareRows(test, counted, base);
  };
}

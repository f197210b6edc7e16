/** A JSON value's parts that are not the same: where, what Jaeger has, and what is here. */
export type Difference = { readonly at: string; readonly jaeger: unknown; readonly here: unknown };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

/** Each member that differs, by the path of it. */
export function differences(jaeger: unknown, here: unknown, at = ''): Difference[] {
  if (isObject(jaeger) && isObject(here) && Array.isArray(jaeger) === Array.isArray(here)) {
    const names = new Set([...Object.keys(jaeger), ...Object.keys(here)]);
    return [...names].flatMap((name) => differences(jaeger[name], here[name], `${at}/${name}`));
  }
  return Object.is(jaeger, here) ? [] : [{ at, jaeger, here }];
}

type Json = Readonly<Record<string, unknown>>;
type Tags = readonly { readonly key: string }[];
type Log = { readonly timestamp: number; readonly fields: Tags };
type JaegerSpan = {
  readonly spanID: string;
  readonly startTime: number;
  readonly processID: string;
  readonly tags: Tags;
  readonly logs: readonly Log[];
};
type JaegerTrace = Json & {
  readonly traceID: string;
  readonly spans: readonly JaegerSpan[];
  readonly processes: Readonly<Record<string, { readonly serviceName: string; readonly tags: Tags }>>;
};

const byText = <Item>(list: readonly Item[], text: (item: Item) => string): Item[] =>
  list.map((item) => [text(item), item] as const).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item); // prettier-ignore

/**
 * An answer in the one order that both have. Jaeger's own goes by its storage: of spans of a trace, of tags, of events (as they were sent, or by name), of
 * what it takes of a map (traces, services, operations, dependencies). Each span has its process in place of a name that goes by that order.
 */
export function inOrder(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  const { data } = answer;
  if (isObject(answer['result'])) return { ...answer, result: resultInOrder(answer['result']) };
  const lists = ['services', 'operations'].filter((name) => Array.isArray(answer[name]));
  if (lists.length > 0)
    return {
      ...answer,
      ...Object.fromEntries(lists.map((name) => [name, byText(answer[name] as unknown[], (one) => JSON.stringify(one))])),
    };
  if (!Array.isArray(data)) return answer;
  if (data.some((one) => isObject(one) && 'spans' in one))
    return { ...answer, data: byText((data as JaegerTrace[]).map(traceInOrder), ({ traceID }) => traceID) };
  return { ...answer, data: byText(data as unknown[], (one) => JSON.stringify(one)) };
}

const keyed = (tags: Tags): Tags => byText(tags, ({ key }) => key);

function spanInOrder(span: JaegerSpan, processes: JaegerTrace['processes']): JaegerSpan {
  const { processID, ...own } = span;
  const logs = span.logs.map(({ timestamp, fields }) => ({ timestamp, fields: keyed(fields) }));
  const process = processes[processID];
  return {
    ...own,
    ...{ tags: keyed(span.tags), logs: byText(logs, ({ timestamp }) => String(timestamp)) },
    process: process === undefined ? undefined : { ...process, tags: keyed(process.tags) },
  } as unknown as JaegerSpan;
}

function traceInOrder({ spans, processes, ...trace }: JaegerTrace): JaegerTrace {
  const whole = spans.map((span) => spanInOrder(span, processes));
  return {
    ...trace,
    spans: byText(whole, ({ spanID, startTime }) => `${spanID} ${String(startTime)}`),
    processes: byText(Object.values(processes), ({ serviceName }) => serviceName),
  } as unknown as JaegerTrace;
}

type Scoped = Json & { readonly spans?: readonly Json[] };
type Resourced = Json & { readonly scopeSpans?: readonly Scoped[] };

const ofAttributes = (value: unknown): unknown =>
  Array.isArray(value) ? byText(value as { readonly key: string }[], ({ key }) => key) : value;

/** A part of OTLP without members that have their default, with attributes by name; events and links by what they are. */
function partInOrder(part: Json): Json {
  const members = Object.entries(part).filter(([, value]) => value !== 0 && value !== '');
  return Object.fromEntries(
    members.map(([name, value]) => {
      if (name === 'attributes') return [name, ofAttributes(value)];
      if (name === 'events' || name === 'links') return [name, byText((value as readonly Json[]).map(partInOrder), partKey)];
      return [name, isObject(value) && !Array.isArray(value) ? partInOrder(value) : value];
    }),
  );
}
const partKey = (part: Json): string => `${String(part['timeUnixNano'])} ${String(part['traceId'])} ${String(part['spanId'])}`;

/** OTLP's lists with a resource and a scope for each span. */
function resultInOrder(result: Json): Json {
  const spans = ((result['resourceSpans'] ?? []) as readonly Resourced[]).flatMap(({ scopeSpans = [], ...resource }) =>
    scopeSpans.flatMap(({ spans: own = [], ...scope }) =>
      own.map((span) => ({ ...partInOrder(resource), scope: partInOrder(scope), span: partInOrder(span) })),
    ),
  );
  return { ...result, resourceSpans: byText(spans, ({ span }) => `${String(span['traceId'])} ${String(span['spanId'])}`) };
}

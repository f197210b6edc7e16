import { expect } from 'chai';

/**
 * What Jaeger UI takes of API v3, as its schemas say it (jaegertracing/jaeger-ui, packages/jaeger-ui/src/api/v3: schemas.ts, generated-client.ts):
 * an answer that is not so it does not show. Written from what they demand, not copied.
 */
type Json = Readonly<Record<string, unknown>>;
type Check = (value: unknown, at: string) => void;

const VALUES: Readonly<Record<string, Check>> = {
  stringValue: is('string'),
  boolValue: is('boolean'),
  intValue: digits(-(2n ** 63n), 2n ** 63n - 1n),
  doubleValue: is('number'),
  arrayValue: object({ values: optional(list(anyValue)) }),
  kvlistValue: object({ values: optional(list(keyValue)) }),
  bytesValue: (value, at) => expect(value, at).to.match(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
};

function is(type: string): Check {
  return (value, at) => expect(value, at).to.be.a(type);
}
function digits(least: bigint, most: bigint): Check {
  return (value, at) => {
    expect(value, at).to.be.a('string').that.matches(/^-?\d{1,20}$/); // prettier-ignore
    expect(BigInt(String(value)) >= least && BigInt(String(value)) <= most, at).to.equal(true);
  };
}
function list(each: Check): Check {
  return (value, at) => {
    expect(value, at).to.be.an('array');
    for (const [index, one] of (value as unknown[]).entries()) each(one, `${at}/${String(index)}`);
  };
}
function optional(check: Check): Check {
  return (value, at) => {
    if (value !== undefined) check(value, at);
  };
}
/** An object with these members; others are let pass. */
function object(members: Readonly<Record<string, Check>>): Check {
  return (value, at) => {
    expect(value, at).to.be.an('object');
    for (const [name, check] of Object.entries(members)) check((value as Json)[name], `${at}/${name}`);
  };
}
function anyValue(value: unknown, at: string): void {
  expect(value, at).to.be.an('object');
  const found = Object.keys(VALUES).filter((name) => (value as Json)[name] !== undefined);
  expect(found, `${at} has one value`).to.have.length(1);
  for (const name of found) VALUES[name]?.((value as Json)[name], `${at}/${name}`);
}
function keyValue(value: unknown, at: string): void {
  object({ key: is('string'), value: anyValue })(value, at);
}

const id =
  (length: number): Check =>
  (value, at) =>
    expect(value, at).to.match(new RegExp(`^(?!0+$)[0-9a-f]{${String(length)}}$`, 'i'));
const count: Check = (value, at) => expect(Number.isInteger(value) && Number(value) >= 0, `${at} is ${String(value)}`).to.equal(true);
const nanos = digits(0n, 2n ** 64n - 1n);
const attributes = optional(list(keyValue));
const word = optional(is('string'));
const dropped = optional(count);

const event = object({ timeUnixNano: optional(nanos), name: word, attributes, droppedAttributesCount: dropped });
const link = object({ traceId: id(32), spanId: id(16), traceState: word, attributes, droppedAttributesCount: dropped, flags: dropped });
const span = object({
  ...{ traceId: id(32), spanId: id(16), parentSpanId: optional(id(16)), traceState: word, name: word, attributes },
  ...{ kind: optional(count), flags: optional(count), startTimeUnixNano: optional(nanos), endTimeUnixNano: optional(nanos) },
  ...{ droppedAttributesCount: dropped, droppedEventsCount: dropped, droppedLinksCount: dropped },
  ...{ events: optional(list(event)), links: optional(list(link)) },
  status: optional(object({ message: word, code: optional(count) })),
});
const shared = { name: word, version: word, attributes, droppedAttributesCount: dropped };
const scopeSpans = object({ scope: optional(object(shared)), spans: list(span), schemaUrl: word });
const resource = optional(object({ attributes, droppedAttributesCount: dropped }));

/** Checks of the answers of API v3, by their paths. Each throws an AssertionError that names the member. */
export const JAEGER_UI = {
  services: object({ services: list(is('string')) }),
  operations: object({ operations: list(object({ name: is('string'), spanKind: is('string') })) }),
  trace: object({ result: object({ resourceSpans: optional(list(object({ resource, scopeSpans: list(scopeSpans), schemaUrl: word }))) }) }),
  summaries: object({
    summaries: list(
      object({
        ...{ traceId: id(32), rootServiceName: word, rootOperationName: word },
        ...{ minStartTimeUnixNano: optional(nanos), maxEndTimeUnixNano: optional(nanos) },
        ...{ spanCount: optional(count), errorSpanCount: optional(count), orphanSpanCount: optional(count) },
        services: optional(list(object({ name: is('string'), spanCount: optional(count), errorSpanCount: optional(count) }))),
      }),
    ),
  }),
  dependencies: object({ dependencies: list(object({ parent: is('string'), child: is('string'), callCount: is('string') })) }),
} as const;

import { lengthDelimited } from './bytes.ts';

/** Field tags of OTLP's messages (opentelemetry-proto, trace.proto). */
const TAG = {
  traceId: 0x0a,
  spanId: 0x12,
  parentSpanId: 0x22,
  name: 0x2a,
  start: 0x39,
  end: 0x41,
  attributes: 0x4a,
  events: 0x5a,
  links: 0x6a,
};

const fixed64 = (tag: number, value: bigint): Buffer => {
  const bytes = Buffer.alloc(9);
  bytes[0] = tag;
  bytes.writeBigUInt64LE(value, 1);
  return bytes;
};
const id = (bytes: number, number: number): Buffer => {
  const made = Buffer.alloc(bytes, 0x0b);
  made.writeUIntBE(number, bytes - 6, 6);
  return made;
};

/** What is said of a span; ids are numbers. */
export type AttackSpan = {
  readonly trace: number;
  readonly span: number;
  readonly parent?: number;
  readonly name?: string;
  /** Milliseconds before now. */
  readonly ago?: number;
  /** Further fields of it. */
  readonly more?: Buffer;
};

/** The id of a trace as paths have it. */
export const traceIdOf = (trace: number): string => id(16, trace).toString('hex');

/** A Span, with its tag in a ScopeSpans. */
export function spanBytes({ trace, span, parent, name = 'work', ago = 0, more }: AttackSpan): Buffer {
  const start = BigInt(Date.now() - ago) * 1_000_000n;
  const parts = [
    lengthDelimited(TAG.traceId, id(16, trace)),
    lengthDelimited(TAG.spanId, id(8, span)),
    ...(parent === undefined ? [] : [lengthDelimited(TAG.parentSpanId, id(8, parent))]),
    lengthDelimited(TAG.name, Buffer.from(name)),
    fixed64(TAG.start, start),
    fixed64(TAG.end, start + 5_000_000n),
    ...(more === undefined ? [] : [more]),
  ];
  return lengthDelimited(0x12, Buffer.concat(parts));
}

/** The KeyValue of a string. */
const textPair = (key: string, value: string): Buffer =>
  Buffer.concat([lengthDelimited(0x0a, Buffer.from(key)), lengthDelimited(0x12, lengthDelimited(0x0a, Buffer.from(value)))]);

/** Spans of a service as a ResourceSpans. */
export const ofService = (service: string, spans: readonly Buffer[], resource: Buffer = Buffer.alloc(0)): Buffer =>
  lengthDelimited(
    0x0a,
    Buffer.concat([
      lengthDelimited(0x0a, Buffer.concat([lengthDelimited(0x0a, textPair('service.name', service)), resource])),
      lengthDelimited(0x12, Buffer.concat(spans)),
    ]),
  );

/** An attribute of a span whose value is so many arrays in each other. */
export function deepAttribute(depth: number): Buffer {
  let value = lengthDelimited(0x0a, Buffer.from('x'));
  for (let level = 0; level < depth; level++) value = lengthDelimited(0x2a, lengthDelimited(0x0a, value));
  return lengthDelimited(TAG.attributes, Buffer.concat([lengthDelimited(0x0a, Buffer.from('deep')), lengthDelimited(0x12, value)]));
}

/** So many empty fields of a Span: two bytes each. */
export const emptyFields = (name: 'attributes' | 'events' | 'links', count: number): Buffer =>
  Buffer.alloc(count * 2, Buffer.from([TAG[name], 0]));

/** An attribute of a span. */
export const attributeBytes = (key: string, value: string): Buffer => lengthDelimited(TAG.attributes, textPair(key, value));

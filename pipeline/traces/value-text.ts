import { JsonText } from '../wire/json-text.ts';

/** Deepest nesting of the value of an attribute. */
export const MAX_DEPTH = 64;

/**
 * An AnyValue as JSON, in one of two forms: plain, `["a",2,{"k":1.0}]`, where `isPlain` becomes false as soon as its types cannot be told from
 * it; or as OTLP writes it, `{"arrayValue":{"values":[{"stringValue":"a"},…]}}`
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). Decoders of both encodings write it part by part.
 */
export class ValueText extends JsonText {
  isOtlp = true;
  isPlain = true;
  /** A value was deeper than MAX_DEPTH; it is not written. */
  isTooDeep = false;

  begin(isOtlp: boolean): void {
    this.clear();
    this.isOtlp = isOtlp;
    this.isPlain = true;
    this.isTooDeep = false;
  }

  /** A string by its UTF-8. */
  text(source: Buffer, start: number, end: number): void {
    if (this.isOtlp) this.ascii('{"stringValue":');
    this.string(source, start, end);
    if (this.isOtlp) this.ascii('}');
  }

  /** A string by its JSON token, with its quotes. */
  token(source: Buffer, start: number, end: number): void {
    if (this.isOtlp) this.ascii('{"stringValue":');
    this.raw(source, start, end);
    if (this.isOtlp) this.ascii('}');
  }

  boolean(value: boolean): void {
    this.ascii(this.isOtlp ? `{"boolValue":${String(value)}}` : String(value));
  }

  /** An int64 by its digits. */
  int(digits: string): void {
    this.ascii(this.isOtlp ? `{"intValue":"${digits}"}` : digits);
  }

  double(value: number): void {
    if (!Number.isFinite(value)) {
      this.isPlain = false;
      this.ascii(this.isOtlp ? `{"doubleValue":"${String(value)}"}` : 'null');
      return;
    }
    const digits = Object.is(value, -0) ? '-0' : String(value);
    if (this.isOtlp) this.ascii(`{"doubleValue":${digits}}`);
    else this.ascii(/[.e]/.test(digits) ? digits : `${digits}.0`);
  }

  /** Bytes in base64. */
  binary(base64: string): void {
    this.isPlain = false;
    if (this.isOtlp) this.ascii(`{"bytesValue":"${base64}"}`);
    else this.ascii(`"${base64}"`);
  }

  none(): void {
    this.ascii(this.isOtlp ? '{}' : 'null');
  }

  openArray(): void {
    this.ascii(this.isOtlp ? '{"arrayValue":{"values":[' : '[');
  }

  closeArray(): void {
    this.ascii(this.isOtlp ? ']}}' : ']');
  }

  /** A list of pairs as a value. */
  openPairs(): void {
    this.ascii(this.isOtlp ? '{"kvlistValue":{"values":[' : '{');
  }

  closePairs(): void {
    this.ascii(this.isOtlp ? ']}}' : '}');
  }

  /** Begins a pair; its key follows as a string, then `afterKey`, its value, and `closePair`. */
  openPair(isFirst: boolean): void {
    if (!isFirst) this.ascii(',');
    if (this.isOtlp) this.ascii('{"key":');
  }

  afterKey(): void {
    this.ascii(this.isOtlp ? ',"value":' : ':');
  }

  closePair(): void {
    if (this.isOtlp) this.ascii('}');
  }
}

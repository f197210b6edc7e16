import { textOf } from '../../core/entry.ts';
import { renderStream } from '../../core/labels.ts';
import { formatTime } from '../../core/time.ts';
import { attributeOf, KINDS, RESOURCE, resourceFields, SCOPE, scopeFields, STATUSES } from '../../../logsql/sql/span-fields.ts';
import type { StringView } from '../../rows/string-view.ts';
import type { WordView } from '../../rows/word-view.ts';
import { SPAN_ID_BYTES, TRACE_ID_BYTES } from '../../traces/span.ts';
import { spanDetails, type SpanDetails } from '../../traces/span-details.ts';
import type { SpanView } from '../../traces/span-view.ts';
import { minuteOf } from '../base/record-groups.ts';
import { once, RecordRows, type ShownTraces } from './record-rows.ts';

const NO_SPAN = '0'.repeat(2 * SPAN_ID_BYTES);
const FAILED = STATUSES.indexOf('error');
const HALF = 4_294_967_296;
/** What reading a resource costs, for each of its characters; each is read once for a record. */
const PARSED = 4;

type Reader = (row: number) => string;

/** The spans of a record, for rules over them: the fields are those of `/spans/search` (docs/traces-query.md). */
export class SpanRows extends RecordRows {
  #view: SpanView | null = null;
  #details: SpanDetails | null = null;
  #minutes = new Int32Array(0);
  #hasMinutes = false;
  /** The fields of the record's resources, by their codes. */
  #resources: ReadonlyMap<string, string>[] = [];
  /** The attributes of its scopes, likewise. */
  #scopes: ReadonlyMap<string, string>[] = [];

  /** Begins with a record that has spans; false where it cannot be read. */
  read(view: SpanView): boolean {
    this.#view = view;
    this.#details = spanDetails(view);
    this.#hasMinutes = false;
    this.#resources = [];
    this.#scopes = [];
    this.begin();
    return this.#details !== null;
  }

  get count(): number {
    return this.#columns.count;
  }

  get minutes(): Int32Array {
    if (!this.#hasMinutes) this.#findMinutes();
    return this.#minutes;
  }

  override show(known: ShownTraces | undefined): ShownTraces {
    const { bytes, data, duration, traceId, status } = this.#columns;
    const { row } = this;
    const [slowest, took, failed] = known ?? ['', -1, ''];
    const own = data.getUint32(duration + 8 * row + 4, true) * HALF + data.getUint32(duration + 8 * row, true);
    const hasFailed = bytes[status + row] === FAILED;
    if (known !== undefined && own <= took && !hasFailed) return known;
    const trace = bytes.toString('hex', traceId + TRACE_ID_BYTES * row, traceId + TRACE_ID_BYTES * (row + 1));
    return [own > took ? trace : slowest, Math.max(own, took), hasFailed ? trace : failed];
  }

  protected codesOf(field: string): ArrayLike<number> | null {
    const { bytes, count, service, name, kind, status } = this.#columns;
    switch (field) {
      case 'service':
      case '_stream':
        return service.codes;
      case 'name':
      case '_msg':
        return name.codes;
      case 'kind':
        return bytes.subarray(kind, kind + count);
      case 'status':
        return bytes.subarray(status, status + count);
      default:
        if (field.startsWith(SCOPE)) return this.#more.context.codes;
        return field.startsWith(RESOURCE) ? this.#resourceCodes() : null;
    }
  }

  protected readerOf(field: string): Reader | null {
    return this.#columnReader(field) ?? this.#detailReader(field);
  }

  get #columns(): SpanView {
    if (this.#view === null) throw new Error('BUG: no record was read.');
    return this.#view;
  }

  get #more(): SpanDetails {
    if (this.#details === null) throw new Error('BUG: no record was read.');
    return this.#details;
  }

  #columnReader(field: string): Reader | null {
    const view = this.#columns;
    const { bytes } = view;
    switch (field) {
      case '_time':
        return (row) => formatTime(bytes.readBigInt64LE(view.time + 8 * row));
      case '_stream':
        return this.#words(view.service, (service) => renderStream([['service', service]]));
      case 'name':
      case '_msg':
        return this.#words(view.name);
      case 'service':
        return this.#words(view.service);
      case 'kind':
        return (row) => KINDS[bytes[view.kind + row] as number] ?? '';
      case 'status':
        return (row) => STATUSES[bytes[view.status + row] as number] ?? '';
      case 'duration':
        return once((row) => String(bytes.readBigUInt64LE(view.duration + 8 * row)));
      case 'trace_id':
        return this.#id(view.traceId, TRACE_ID_BYTES);
      case 'span_id':
        return this.#id(view.spanId, SPAN_ID_BYTES);
      case 'parent_span_id': {
        const read = this.#id(view.parentSpanId, SPAN_ID_BYTES);
        return (row) => (read(row) === NO_SPAN ? '' : read(row));
      }
      default:
        return null;
    }
  }

  #detailReader(field: string): Reader | null {
    const { statusMessage, traceState, scope, scopeVersion, events, links } = this.#more;
    switch (field) {
      case '_stream_id':
        return null;
      case 'status_message':
        return this.#strings(statusMessage);
      case 'trace_state':
        return this.#strings(traceState);
      case 'scope.name':
        return this.#words(scope);
      case 'scope.version':
        return this.#words(scopeVersion);
      case 'events':
        return this.#strings(events);
      case 'links':
        return this.#strings(links);
      default:
        if (field.startsWith(RESOURCE)) return (row) => this.#resourceOf(row).get(field) ?? '';
        if (field.startsWith(SCOPE)) return (row) => this.#scopeOf(row).get(field) ?? '';
    }
    const attribute = attributeOf(field);
    return attribute === null ? null : this.#attributeReader(attribute);
  }

  #id(column: number, width: number): Reader {
    const { bytes } = this.#columns;
    return once((row) => bytes.toString('hex', column + width * row, column + width * (row + 1)));
  }

  #strings({ starts, ends }: StringView): Reader {
    const { bytes } = this.#columns;
    return once((row) => bytes.toString('utf8', starts[row], ends[row]));
  }

  /** Words, each of which is decoded once. */
  #words({ keys, codes }: WordView, shown: (word: string) => string = (word) => word): Reader {
    const { bytes } = this.#columns;
    const { starts, ends } = keys;
    const known: (string | undefined)[] = [];
    return (row) => {
      const code = codes[row] as number;
      return (known[code] ??= shown(bytes.toString('utf8', starts[code], ends[code])));
    };
  }

  #attributeReader(attribute: string): Reader | null {
    const { keys, values, attributeEnds } = this.#more;
    const { bytes } = this.#columns;
    const wanted = Buffer.from(attribute);
    let code = -1;
    for (let key = 0; key < keys.keys.count && code < 0; key++) {
      const [start, end] = [keys.keys.starts[key] as number, keys.keys.ends[key] as number];
      if (end - start === wanted.length && bytes.compare(wanted, 0, wanted.length, start, end) === 0) code = key;
    }
    if (code < 0) return null;
    const { codes } = keys;
    const { starts, ends } = values;
    return once((row) => {
      const end = attributeEnds[row] as number;
      for (let at = row === 0 ? 0 : (attributeEnds[row - 1] as number); at < end; at++)
        if (codes[at] === code) return bytes.toString('utf8', starts[at], ends[at]);
      return '';
    });
  }

  /** Codes of resources where they are words; null where some are too long for that. */
  #resourceCodes(): ArrayLike<number> | null {
    const { resource, longResource } = this.#more;
    const { count } = this.#columns;
    const { starts, ends } = longResource;
    for (let row = 0; row < count; row++) if (starts[row] !== ends[row]) return null;
    return resource.codes;
  }

  #resourceOf(row: number): ReadonlyMap<string, string> {
    const { resource, longResource } = this.#more;
    const { bytes } = this.#columns;
    const [start, end] = [longResource.starts[row] as number, longResource.ends[row] as number];
    if (end > start) return this.#parsed(bytes.toString('utf8', start, end));
    const code = resource.codes[row] as number;
    return (this.#resources[code] ??= this.#parsed(bytes.toString('utf8', resource.keys.starts[code], resource.keys.ends[code])));
  }

  #scopeOf(row: number): ReadonlyMap<string, string> {
    const { keys, codes } = this.#more.context;
    const code = codes[row] as number;
    return (this.#scopes[code] ??= this.#parsed(this.#columns.bytes.toString('utf8', keys.starts[code], keys.ends[code]), scopeFields));
  }

  #parsed(json: string, read: typeof resourceFields = resourceFields): ReadonlyMap<string, string> {
    this.work += PARSED * json.length;
    const fields = new Map<string, string>();
    try {
      for (const [name, value] of read(json, '')) if (!fields.has(name)) fields.set(name, textOf(value));
    } catch (error) {
      // no writer of ours makes a resource that is not JSON, and none may halt a fold
      if (!(error instanceof SyntaxError)) throw error;
    }
    return fields;
  }

  #findMinutes(): void {
    const { data, time, count } = this.#columns;
    if (this.#minutes.length < count) this.#minutes = new Int32Array(count);
    for (let row = 0, at = time; row < count; row++, at += 8)
      this.#minutes[row] = minuteOf(data.getInt32(at + 4, true), data.getUint32(at, true));
    this.#hasMinutes = true;
  }
}

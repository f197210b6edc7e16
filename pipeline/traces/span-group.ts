import type { Word, WordTable } from '../rows/words.ts';
import { JsonText } from '../wire/json-text.ts';
import { AttributeList } from './attribute-list.ts';
import { TYPES } from './span.ts';
import type { SpanWords } from './span-columns.ts';
import { ValueText } from './value-text.ts';

const SERVICE_NAME = Buffer.from('service.name');
/**
 * Words lie in dictionaries of up to 8,192 that all tenants with spans in the same part read: so these are rejected where they are longer, and a
 * longer resource is kept beside them, in a column of its own. Bytes.
 */
export const MAX_WORD_BYTES = 4096;
const tooLong = (what: string, most: number): string => `a ${what} of more than ${String(most)} bytes`;

const NONE = Buffer.alloc(0);

/** A string by its UTF-8, where it lies. */
export class Place {
  source: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;

  clear(): void {
    this.start = this.end = 0;
  }

  set(source: Buffer, start: number, end: number): void {
    this.source = source;
    this.start = start;
    this.end = end;
  }
}

/** A word of a table that many rows share. It is looked up again where the table has begun anew: ids of before mean other words then. */
class SharedWord {
  readonly #table: WordTable;
  #bytes = Buffer.alloc(0);
  #word: Word;
  #epoch: number;

  constructor(table: WordTable) {
    this.#table = table;
    this.#word = table.none;
    this.#epoch = table.ids.epoch;
  }

  set(source: Buffer, start: number, end: number): void {
    this.#bytes = Buffer.from(source.subarray(start, end));
    this.#find();
  }

  /** To be used before another word is looked up. */
  get word(): Word {
    if (this.#epoch !== this.#table.ids.epoch) this.#find();
    return this.#word;
  }

  #find(): void {
    const bytes = this.#bytes;
    this.#word = this.#table.of(bytes, 0, bytes.length, () => bytes.toString('utf8'));
    this.#epoch = this.#table.ids.epoch;
  }
}

/** What the spans of a resource and of a scope share. */
export class SpanGroup {
  readonly service: SharedWord;
  readonly resource: SharedWord;
  /** The resource, where it is too long for a word, which is empty then. */
  longResource: Buffer = NONE;
  readonly resourceTypes: SharedWord;
  readonly scope: SharedWord;
  readonly scopeVersion: SharedWord;
  readonly context: SharedWord;
  /** To be filled in between `beginResource` and `endResource`. */
  readonly attributes = new AttributeList();
  readonly resourceSchemaUrl = new Place();
  resourceDropped = 0;
  /** To be filled in between `beginScope` and `endScope`, for each scope of the resource: attributes as a JSON array of OTLP, empty for none. */
  readonly scopeName = new Place();
  readonly version = new Place();
  readonly scopeAttributes = new ValueText(256);
  readonly scopeSchemaUrl = new Place();
  scopeDropped = 0;
  /** Why no span of the resource, or of the scope, can be taken; empty where they can. */
  resourceProblem = '';
  scopeProblem = '';
  readonly #text = new JsonText(1024);

  constructor(tables: SpanWords) {
    this.service = new SharedWord(tables.services);
    this.resource = new SharedWord(tables.resources);
    this.resourceTypes = new SharedWord(tables.types);
    this.scope = new SharedWord(tables.scopes);
    this.scopeVersion = new SharedWord(tables.scopes);
    this.context = new SharedWord(tables.scopes);
  }

  beginResource(): void {
    this.attributes.clear();
    this.resourceSchemaUrl.clear();
    this.resourceDropped = 0;
    this.resourceProblem = '';
  }

  endResource(): void {
    const { attributes } = this;
    const service = attributes.find(SERVICE_NAME);
    const isText = service >= 0 && attributes.types[service] === TYPES.string.charCodeAt(0);
    const longest = isText ? (attributes.valueEnds[service] as number) - (attributes.valueStarts[service] as number) : 0;
    if (this.resourceProblem === '' && longest > MAX_WORD_BYTES) this.resourceProblem = tooLong('service', MAX_WORD_BYTES);
    this.service.set(attributes.values.bytes, isText ? (attributes.valueStarts[service] as number) : 0, isText ? (attributes.valueEnds[service] as number) : 0); // prettier-ignore
    const text = this.#text;
    text.clear();
    attributes.json(text);
    const isLong = text.length > MAX_WORD_BYTES;
    this.longResource = isLong ? Buffer.from(text.bytes.subarray(0, text.length)) : NONE;
    this.resource.set(text.bytes, 0, isLong ? 0 : text.length);
    this.resourceTypes.set(attributes.types, 0, attributes.count);
  }

  beginScope(): void {
    this.scopeName.clear();
    this.version.clear();
    this.scopeAttributes.begin(true);
    this.scopeSchemaUrl.clear();
    this.scopeDropped = 0;
    this.scopeProblem = '';
  }

  endScope(): void {
    const { scopeName, version } = this;
    this.#context();
    const longest = Math.max(scopeName.end - scopeName.start, version.end - version.start, this.#text.length);
    if (longest > MAX_WORD_BYTES) {
      if (this.scopeProblem === '') this.scopeProblem = tooLong('scope', MAX_WORD_BYTES);
      return;
    }
    this.scope.set(scopeName.source, scopeName.start, scopeName.end);
    this.scopeVersion.set(version.source, version.start, version.end);
    this.context.set(this.#text.bytes, 0, this.#text.length);
  }

  /** What is rare of both, as a JSON object; empty for nothing. */
  #context(): void {
    const text = this.#text;
    const { scopeAttributes } = this;
    const member = (name: string): void => {
      text.ascii(`${text.length === 0 ? '{' : ','}"${name}":`);
    };
    const url = (name: string, { source, start, end }: Place): void => {
      if (start === end) return;
      member(name);
      text.string(source, start, end);
    };
    const count = (name: string, dropped: number): void => {
      if (dropped === 0) return;
      member(name);
      text.ascii(String(dropped));
    };
    text.clear();
    url('resourceSchemaUrl', this.resourceSchemaUrl);
    count('resourceDropped', this.resourceDropped);
    if (scopeAttributes.length > 0) {
      member('scopeAttributes');
      text.raw(scopeAttributes.bytes, 0, scopeAttributes.length);
    }
    count('scopeDropped', this.scopeDropped);
    url('scopeSchemaUrl', this.scopeSchemaUrl);
    if (text.length > 0) text.ascii('}');
  }
}

import { Clusterer, OVERFLOW_FINGERPRINT } from '../../clusterer/clusterer.ts';
import { MessagePatterns } from '../../clusterer/message-patterns.ts';
import { fingerprintOf } from '../../clusterer/shapes.ts';
import { MAX_MESSAGE, wholeCharacters } from '../../clusterer/words.ts';
import type { PatternRow } from '../../counters/pattern-rows.ts';
import { type ByteReader, type ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import type { SeenPattern } from './patterns-partial.ts';

/** Templates of a tenant that are distinguished, and bytes of them; what is beyond is the overflow. */
const MOST_TEMPLATES = 50_000;
export const MOST_TENANT_BYTES = 12 * 1024 * 1024;
/** What is not reported for this long is forgotten, where entries are kept for ever or longer. Days. */
const MOST_DAYS = 365;

/** Templates that were forgotten and are not new when they come back: how many, and by how many digits of their fingerprints. */
const MOST_FORGOTTEN = 20_000;
const DIGITS = 16;
const FORGOTTEN_BYTES = DIGITS + 2;

/** A template: with which time it came first, the earliest time of an entry (milliseconds), and the day on which it was published last. */
type Seen = { readonly template: string; readonly added: number; first: number; day: number };
/** A pattern as it is published, without what all rows of a partial share. */
export type PublishedPattern = Pick<PatternRow, 'fingerprint' | 'root' | 'template' | 'example' | 'severity' | 'first'> & {
  /** The label set of the example's stream. */
  readonly stream: string;
  /** Its template was never seen, nor any other of its cluster. */
  readonly isNew: boolean;
};

const messages = new MessagePatterns();
const options = { maxTemplates: MOST_TEMPLATES };
const bytesOf = (template: string): number => Buffer.byteLength(template) + 24;

/** The templates of a tenant, and their clusters. */
export class TenantClusters {
  /** Bytes of all templates, and of what is remembered of those that were forgotten, about. */
  bytes = 0;
  /** The class of its last entries. */
  retentionDays = 0;
  #clusterer = new Clusterer(options);
  /** By fingerprint, in the order in which they came. */
  readonly #seen = new Map<string, Seen>();
  /** Templates that were forgotten: the first digits of their fingerprints. */
  readonly #forgotten = new Set<string>();

  get size(): number {
    return this.#seen.size;
  }

  /** Takes patterns that came on a day; gives what is to be published of them, and of those whose cluster has changed. */
  take(patterns: readonly SeenPattern[], day: number, mostBytes: number): PublishedPattern[] {
    const published = new Map<string, PublishedPattern>();
    for (const pattern of patterns) {
      const found = this.#add(pattern, day, mostBytes);
      if (found !== null) published.set(found.fingerprint, found);
    }
    for (const { alias } of this.#clusterer.takeAliases())
      if (!published.has(alias))
        published.set(alias, { ...NOTHING, fingerprint: alias, root: '', first: this.#seen.get(alias)?.first ?? 0 });
    const roots = new Set([...published.keys()].map((fingerprint) => this.#clusterer.rootOf(fingerprint) ?? OVERFLOW_FINGERPRINT));
    for (const root of roots) {
      const seen = this.#seen.get(root);
      if (seen === undefined || seen.day >= day || published.has(root)) continue;
      // as long as one of a cluster comes, its root is known
      seen.day = day;
      published.set(root, { ...NOTHING, fingerprint: root, root, template: seen.template, first: seen.first });
    }
    return [...published.values()].map((one) => ({ ...one, root: this.#clusterer.rootOf(one.fingerprint) ?? OVERFLOW_FINGERPRINT }));
  }

  #add({ high, low, severity, first, message, stream: labels }: SeenPattern, day: number, mostBytes: number): PublishedPattern | null {
    const bytes = Buffer.from(message, 'latin1');
    messages.read(bytes, 0, bytes.length);
    // made by other rules than those of this release: what is counted of it is the overflow
    if (messages.high >>> 0 !== high >>> 0 || messages.low >>> 0 !== low >>> 0) return null;
    const template = messages.template();
    const fingerprint = fingerprintOf(template);
    const known = this.#seen.get(fingerprint);
    const earliest = Math.min(first, known?.first ?? first);
    let isNew = false;
    if (known !== undefined) [known.first, known.day] = [earliest, Math.max(known.day, day)];
    else if (this.size < MOST_TEMPLATES && this.bytes + bytesOf(template) <= Math.min(mostBytes, MOST_TENANT_BYTES)) {
      isNew = this.#clusterer.add(template, first) === fingerprint && !this.#forgotten.has(fingerprint.slice(0, DIGITS));
      this.#seen.set(fingerprint, { template, added: first, first, day });
      this.bytes += bytesOf(template);
    }
    const stream = labels === '' ? '{}' : Buffer.from(labels, 'latin1').toString();
    return {
      fingerprint,
      root: '',
      template,
      example: bytes.toString('utf8', 0, bytes.length > MAX_MESSAGE ? wholeCharacters(bytes, MAX_MESSAGE) : bytes.length),
      severity,
      first: earliest,
      stream,
      isNew,
    };
  }

  /** Forgets the templates that did not come for as many days as entries are kept (or a year); they are published when they come back. */
  forget(day: number): void {
    const { retentionDays } = this;
    const oldest = day - 1 - (retentionDays === 0 ? MOST_DAYS : retentionDays);
    if (![...this.#seen.values()].some((seen) => seen.day < oldest)) return;
    this.#clusterer = new Clusterer(options);
    this.bytes = 0;
    for (const [fingerprint, { template, added, day: published }] of this.#seen) {
      if (published < oldest) {
        this.#seen.delete(fingerprint);
        this.#forgotten.add(fingerprint.slice(0, DIGITS));
      } else {
        this.#clusterer.add(template, added);
        this.bytes += bytesOf(template);
      }
    }
    this.#clusterer.takeAliases();
    for (const digits of this.#forgotten) {
      if (this.#forgotten.size <= MOST_FORGOTTEN) break;
      this.#forgotten.delete(digits);
    }
    this.bytes += this.#forgotten.size * FORGOTTEN_BYTES;
  }

  write(to: ByteWriter): void {
    to.count(this.retentionDays);
    to.count(this.#forgotten.size);
    for (const digits of this.#forgotten) to.text(digits);
    to.count(this.size);
    for (const { template, added, first, day } of this.#seen.values()) {
      to.text(Buffer.from(template).toString('latin1'));
      to.count(added);
      to.count(first);
      to.signed(day);
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): TenantClusters {
    const read = new TenantClusters();
    read.retentionDays = from.count(0xffff);
    for (let left = from.count(MOST_FORGOTTEN); left > 0; left--) read.#forgotten.add(from.text());
    read.bytes = read.#forgotten.size * FORGOTTEN_BYTES;
    for (let left = from.count(MOST_TEMPLATES); left > 0; left--) {
      const template = Buffer.from(from.text(), 'latin1').toString();
      const [added, first, day] = [from.count(), from.count(), from.signed()];
      read.#clusterer.add(template, added);
      const { size } = read;
      read.#seen.set(fingerprintOf(template), { template, added, first, day });
      if (read.size !== size + 1) throw new CutOff();
      read.bytes += bytesOf(template);
    }
    read.#clusterer.takeAliases();
    return read;
  }
}

const NOTHING = { template: '', example: '', severity: 0, stream: '', isNew: false } as const;

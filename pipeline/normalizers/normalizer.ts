import type { Coding } from '../compression/inflate.ts';
import type { RowWriter, Written } from '../intake/rows.ts';
import type { EntryWriter } from '../logs/writer.ts';

export type { Written };

/** One request as a normalizer sees it: decoded bytes, and what of the envelope may matter. */
export type IngestRequest = {
  readonly path: string;
  /** The media type alone, in lower case; empty where none was sent. */
  readonly contentType: string;
  readonly query: URLSearchParams;
  /** A header's value; empty where it is missing. Names in lower case. */
  header(name: string): string;
  readonly body: Buffer;
  /** The cap of a body in bytes: what is compressed inside of the format is bounded by it too. */
  readonly maxBytes: number;
  /** Nanoseconds since the epoch. */
  readonly receivedAt: bigint;
};

/** A protocol's own answer. */
export type Ack = {
  /** 400: some rows were rejected, and the protocol has no other way to state it. */
  readonly status: 200 | 202 | 204 | 400;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is JSON unless the headers state otherwise; an object becomes JSON. */
  readonly body?: string | Buffer | object;
  /** In place of `body`, where that would be long: its strings are made as they are sent. The headers state what it is. */
  readonly stream?: Iterable<string>;
};

/** Most bytes of a body, as it is received and decompressed. */
export type Caps = { readonly wire: number; readonly inflated: number };

/**
 * A wire format: bytes in, rows of one signal and rejections out (a protocol with several signals has a normalizer for each). `normalize` is synchronous and throws HttpError (400) only when nothing of
 * the request can be taken; a single bad row goes to `out.reject`. `Writer`: that of the signal's intake.
 */
export interface Normalizer<Writer extends RowWriter = EntryWriter> {
  /** The name of the signal whose rows it makes: `logs`. */
  readonly signal: string;
  /** Caps of its own; by default those of the deployment (`LOGWEIR_MAX_BODY_SIZE_MB`). */
  readonly caps?: Caps;
  /** The format's name in metrics and docs: `es_bulk`. */
  readonly name: string;
  /** Paths, in the router's notation; the router and the docs take them from here. */
  readonly paths: readonly string[];
  readonly methods: readonly ('POST' | 'PUT')[];
  /** Which settings of its shippers make requests smaller, as the end of a sentence: `batch_size of …`. */
  readonly batchSettings?: string;
  /** The query parameter `api_key` is a credential (drains and GELF only). */
  readonly keyInQuery?: true;
  /** The style of this format's errors: the house's, or that with the keys that its clients read. */
  readonly errors?: 'ingest' | 'hec' | 'firehose' | 'metrics' | 'query';
  /** Whose rules of credentials hold on its paths; those of the ingest plane unless told. */
  readonly plane?: 'app';
  /** What the account's plan must have. */
  readonly feature?: 'metrics' | 'replay';
  /** The coding that the format itself prescribes for a media type, where the request names none by Content-Encoding. */
  impliedCoding?(contentType: string): Coding | null;
  /** Headers that every answer on these paths carries, errors too. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  normalize(request: IngestRequest, out: Writer): void;
  ack(request: IngestRequest, result: Written, tookMs: number): Ack;
}

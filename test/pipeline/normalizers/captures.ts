import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readCoding } from '../../../api/http/body.ts';
import { HttpError, httpErrorOf } from '../../../pipeline/core/errors.ts';
import { inflate } from '../../../pipeline/compression/inflate.ts';
import type { Normalizer } from '../../../pipeline/normalizers/normalizer.ts';
import { normalize, type Result } from './normalize.ts';

/** A request that a real client sent. */
export type CapturedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body_b64: string;
  /** What a client asks first; no logs are in it. */
  readonly probe: boolean;
};

/** What must come of an entry. */
export type ExpectedEntry = {
  readonly msg: string;
  readonly marker: string;
  readonly match: 'exact' | 'contains' | 'marker' | 'any';
  /** ISO 8601, or `now`: about the time of arrival. */
  readonly time?: string;
  /** Words, separated by `|`, of which one must stand for the same severity. */
  readonly level?: string;
  /** By names separated by `|`, of which one must have the value. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly stream?: Readonly<Record<string, string>>;
};

/** What one client sent in one go, and what must come of it. */
export type Capture = {
  readonly slug: string;
  readonly client: string;
  readonly requests: readonly CapturedRequest[];
  readonly statuses: readonly number[];
  readonly entries: readonly ExpectedEntry[];
};

type ExpectationFile = { path_slug: string; client: string; expect_status: number | number[]; entries: ExpectedEntry[] };

/** Where the captures of the conformance data lie, beside the clone (`LOGWEIR_SHARED`). Throws where they are absent. */
export function capturesFolder(): string {
  const shared = path.resolve(import.meta.dirname, '../../..', process.env['LOGWEIR_SHARED'] ?? '../shared');
  const folder = path.join(shared, 'conformance/wire/captures');
  if (!existsSync(folder)) throw new Error(`THE CONFORMANCE DATA IS ABSENT: there is no ${folder}; set LOGWEIR_SHARED.`);
  return folder;
}

export function readCaptures(): Capture[] {
  const folder = capturesFolder();
  const json = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.expected.json'));
  return files.sort().map((file) => {
    const expected = json(file) as ExpectationFile;
    const { requests } = json(file.replace('.expected.json', '.json')) as { requests: CapturedRequest[] };
    return {
      slug: expected.path_slug,
      client: expected.client,
      requests: requests.filter(({ probe }) => !probe),
      statuses: [expected.expect_status].flat(),
      entries: expected.entries,
    };
  });
}

/** The normalizer that serves a path: one that names it, else one whose pattern fits. */
export function normalizerFor(normalizers: readonly Normalizer[], pathname: string): Normalizer | undefined {
  const fits = (pattern: string): boolean => {
    const parts = pattern.split('/');
    const given = pathname.split('/');
    return parts.length === given.length && parts.every((part, i) => part === given[i] || part.startsWith(':'));
  };
  return normalizers.find(({ paths }) => paths.includes(pathname)) ?? normalizers.find(({ paths }) => paths.some(fits));
}

/** Decodes a captured body as the body reader does, and runs the normalizer over it. */
export async function runCapture(
  normalizer: Normalizer,
  request: CapturedRequest,
): Promise<{ readonly status: number; readonly detail?: string; readonly result?: Result }> {
  const url = new URL(request.path, 'http://localhost');
  const headers = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
  const contentType = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  try {
    const sent = Buffer.from(request.body_b64, 'base64');
    const coding = readCoding(headers['content-encoding']) ?? normalizer.impliedCoding?.(contentType) ?? null;
    const tooLarge = (): HttpError => new HttpError(413, 'payload_too_large', 'too large');
    const body = coding === null ? sent : await inflate(coding, sent, 2 * 1024 * 1024, tooLarge);
    const result = normalize(normalizer, body, { path: url.pathname, contentType, headers, query: url.search });
    return 'ack' in result ? { status: result.ack.status, result } : result;
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    if (error !== null) return { status: error.status, detail: error.message };
    throw thrown;
  }
}

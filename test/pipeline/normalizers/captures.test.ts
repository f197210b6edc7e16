import { expect } from 'chai';
import { textOf, type LogEntry } from '../../../pipeline/core/entry.ts';
import { parseStream } from '../../../pipeline/core/labels.ts';
import { severityOf } from '../../../pipeline/core/severity.ts';
import { parseTime } from '../../../pipeline/core/time.ts';
import { normalizers } from '../../../pipeline/normalizers/index.ts';
import type { Ack } from '../../../pipeline/normalizers/normalizer.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';
import { normalizerFor, readCaptures, runCapture, type Capture, type CapturedRequest, type ExpectedEntry } from './captures.ts';

/** Captures of what carries no logs. */
const NOT_LOGS = new Set([
  'api_v1_otel_v1_metrics',
  'api_v1_write',
  'api_v2_write',
  'otlp_metrics',
  'otlp_traces',
  'v1_rum_replay',
  'write',
]);
const MILLISECOND = 1_000_000n;
const TEN_MINUTES = 600_000n * MILLISECOND;

/** Levels that mean the same, where severities alone are too coarse. */
const SAME_LEVELS = [['notice'], ['alert'], ['emerg', 'emergency', 'panic'], ['critical', 'crit', 'fatal']];

function levelClass(level: string): string {
  const word = level.trim().toLowerCase();
  const same = SAME_LEVELS.find((words) => words.includes(word))?.[0];
  if (same !== undefined) return same;
  const severity = severityOf(word);
  return severity === 0 ? word : String(severity);
}

const jsonText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Equal as texts, or as numbers that a double holds. */
function sameValue(found: string, wanted: unknown): boolean {
  const text = jsonText(wanted);
  if (found === text) return true;
  const short = found !== '' && text !== '' && found.length < 17 && text.length < 17;
  return short && Number(found) === Number(text);
}

function hasMessage(entry: LogEntry, { msg, match, marker }: ExpectedEntry): boolean {
  const text = textOf(entry.get('_msg'));
  if (match === 'exact') return text.trimEnd() === msg.trimEnd();
  if (match === 'contains') return text.includes(msg) && text.includes(marker);
  return match === 'marker' ? text.includes(marker) : [...entry.values()].some((value) => textOf(value).includes(marker));
}

/** What of the expectation does not hold for an entry. */
function differences(entry: LogEntry, expected: ExpectedEntry): string[] {
  const found: string[] = [];
  const time = parseTime(textOf(entry.get('_time'))) ?? 0n;
  const wanted = expected.time === undefined || expected.time === 'now' ? RECEIVED_AT : (parseTime(expected.time) ?? -1n);
  const away = time > wanted ? time - wanted : wanted - time;
  if (expected.time !== undefined && away > (expected.time === 'now' ? TEN_MINUTES : MILLISECOND))
    found.push(`_time ${textOf(entry.get('_time'))}, wanted ${expected.time}`);
  const level = textOf(entry.get('level'));
  if (expected.level && !expected.level.split('|').some((word) => levelClass(word) === levelClass(level)))
    found.push(`level ${level}, wanted ${expected.level}`);
  for (const [names, value] of Object.entries(expected.fields ?? {})) {
    const values = names.split('|').map((name) => textOf(entry.get(name)));
    if (!values.some((text) => sameValue(text, value))) found.push(`${names} ${JSON.stringify(values)}, wanted ${jsonText(value)}`);
  }
  const labels = parseStream(textOf(entry.get('_stream')));
  for (const [names, value] of Object.entries(expected.stream ?? {})) {
    const isSame = (name: string): boolean => {
      const label = labels.get(name);
      return label !== undefined && (label === value || (name === 'level' && levelClass(label) === levelClass(value)));
    };
    if (!names.split('|').some(isSame)) found.push(`_stream ${textOf(entry.get('_stream'))}, wanted ${names}=${value}`);
  }
  return found;
}

/** What breaks a real client if it is missing from an answer. */
function checkAnswer(slug: string, request: CapturedRequest, { status, body }: Ack): void {
  if (status === 204) return void expect(body ?? '').to.have.length(0);
  if (Buffer.isBuffer(body) || body === undefined) return;
  const answer = (typeof body === 'string' ? (body === '' ? {} : JSON.parse(body)) : body) as Record<string, unknown>;
  if (slug === 'es_bulk') expect(answer).to.include({ errors: false }).and.to.have.property('items').that.is.an('array');
  if (slug === 'api_v1_ingest') expect(answer).to.include({ status: 'ok' });
  if (slug.startsWith('hec')) expect(answer).to.include({ text: 'Success', code: 0 });
  if (slug === 'api_v1_cloudwatch') {
    const id = request.headers.find(([name]) => name.toLowerCase() === 'x-amz-firehose-request-id')?.[1];
    if (id !== undefined) expect(answer['requestId']).to.equal(id);
    expect(answer['timestamp']).to.satisfy(Number.isInteger);
  }
}

async function replay({ slug, requests, statuses, entries }: Capture): Promise<void> {
  const taken: LogEntry[] = [];
  for (const request of requests) {
    const { pathname } = new URL(request.path, 'http://localhost');
    const normalizer = normalizerFor(normalizers.members, pathname);
    if (normalizer === undefined) throw new Error(`No normalizer serves ${pathname}.`);
    expect(normalizer.methods).to.include(request.method);
    const { status, detail, result } = await runCapture(normalizer, request);
    expect(status, detail).to.be.oneOf([...statuses]);
    if (result === undefined) continue;
    expect(result.rejected).to.deep.equal([]);
    checkAnswer(slug, request, result.ack);
    taken.push(...result.entries);
  }
  for (const expected of entries) {
    const own = taken.filter((entry) => hasMessage(entry, expected));
    expect(own, `${expected.match} ${expected.msg}\nof\n${taken.map((entry) => textOf(entry.get('_msg'))).join('\n')}`).to.not.be.empty;
    const best = own.map((entry) => differences(entry, expected)).sort((a, b) => a.length - b.length)[0];
    expect(best, expected.msg).to.deep.equal([]);
  }
}

describe('captures of real clients', () => {
  let captures: Capture[] = [];
  let absent: unknown = null;
  try {
    captures = readCaptures().filter(({ slug }) => !NOT_LOGS.has(slug));
  } catch (error) {
    absent = error;
  }
  it('are there', () => {
    if (absent instanceof Error) throw absent;
    expect(captures).to.have.length.of.at.least(40);
  });
  for (const capture of captures) it(`${capture.slug}: ${capture.client}`, () => replay(capture));
});

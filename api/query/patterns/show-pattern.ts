import { notFound } from '../../../pipeline/core/errors.ts';
import { conjunction, ofTenant, sql, text, uint32 } from '../../../pipeline/core/sql.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import { momentSql } from '../../../logsql/sql/time.ts';
import type { Deps, Request } from '../deps.ts';
import { tenantRows } from '../tenant-rows.ts';
import { windowMember, type Window } from '../window.ts';
import { latestPatterns, numberOf, numbersOf, patternCounts, sinceWindow } from './counts.ts';
import { findPatterns } from './list-patterns.ts';
import type { PatternParameters } from './parameters.ts';
import { placeholderValues } from './placeholder-values.ts';
import { textsOf } from './texts.ts';

const SECOND = 1_000_000_000n;
/** The newest messages whose values are looked at, each up to MAX_MESSAGE characters. */
const SAMPLED = 1000;
const MAX_MESSAGE = 4096;
const MOST_HOURS = 24 * 366;
const ONE = { sort: 'count', order: 'desc', search: null, service: null, limit: 1, offset: 0 } as const;

/**
 * `GET /patterns/{fingerprint}`: the cluster of a root or an alias, with how many entries came in each hour, the values that its placeholders took in
 * the newest entries, and its first and last message. Throws HttpError 404 for one that the tenant does not have.
 */
export async function showPattern({ fingerprint, since }: PatternParameters, request: Request, deps: Deps): Promise<string> {
  const window = sinceWindow(since, request, deps);
  const words = latestPatterns(request.tenantId);
  const rows = await tenantRows(
    sql`SELECT root, fingerprint, toString(first) FROM ${words} WHERE root IN (SELECT root FROM ${words} WHERE number = ${numberOf(fingerprint)} AND fingerprint = ${text(fingerprint)})`,
    request,
    deps,
  );
  const [root] = rows.map(([found]) => String(found));
  if (root === undefined) throw notFound(`There is no pattern ${fingerprint}.`);
  const members = rows.map(([, member]) => String(member));
  const [{ patterns }, texts, history, messages] = await Promise.all([
    findPatterns({ ...ONE, root }, window, request, deps),
    textsOf([root, fingerprint], request, deps),
    historyOf(members, window, request, deps),
    messagesOf(members, window, request, deps),
  ]);
  const template = (texts.get(root) ?? texts.get(fingerprint))?.template ?? '';
  const first = rows.reduce((least, [, , ms]) => (BigInt(String(ms)) < least ? BigInt(String(ms)) : least), BigInt(String(rows[0]?.[2])));
  const none = {
    ...{
      fingerprint: root,
      normalized_message: template,
      first_seen: formatTime(first * 1_000_000n),
      last_seen: null,
      count: 0,
      streams: [],
    },
    aliases: members.filter((member) => member !== root).sort(),
  };
  const body = {
    pattern: patterns[0] ?? none,
    history,
    placeholders: placeholderValues(template, messages),
    sampled: messages.length,
    first_example: await firstExample(members, request, deps),
    last_example: messages[0] ?? null,
  };
  return `${JSON.stringify(body).slice(0, -1)},${windowMember(window)}}`;
}

async function historyOf(members: readonly string[], window: Window, request: Request, deps: Deps): Promise<object[]> {
  const counts = patternCounts(request.tenantId, { ...window, isOpen: true }, [sql`pattern IN ${numbersOf(members)}`]);
  const rows = await tenantRows(
    sql`SELECT toString(intDiv(toUnixTimestamp64Second(time), 3600) * 3600) AS hour, toString(sum(entries)) FROM ${counts} GROUP BY hour ORDER BY toInt64(hour) LIMIT ${uint32(MOST_HOURS)}`,
    request,
    deps,
  );
  return rows.map(([hour, hits]) => ({ time: formatTime(BigInt(String(hour)) * SECOND), hits: Number(hits) }));
}

/** The newest messages of these patterns in the window. */
async function messagesOf(members: readonly string[], window: Window, request: Request, deps: Deps): Promise<string[]> {
  const where = [ofTenant(request.tenantId), sql`_time >= ${momentSql(window.start)}`, sql`pattern IN ${numbersOf(members)}`];
  const rows = await tenantRows(
    sql`SELECT substringUTF8(_msg, 1, ${uint32(MAX_MESSAGE)}) FROM logs WHERE ${conjunction(where)} ORDER BY tenant_id DESC, _time DESC LIMIT ${uint32(SAMPLED)}`,
    request,
    deps,
  );
  return rows.map(([message]) => String(message));
}

async function firstExample(members: readonly string[], request: Request, deps: Deps): Promise<string | null> {
  const rows = await tenantRows(
    sql`SELECT argMin(example, (first_ms, version)) FROM patterns WHERE ${ofTenant(request.tenantId)} AND pattern IN ${numbersOf(members)} AND example != ''`,
    request,
    deps,
  );
  const example = rows[0]?.[0];
  return typeof example === 'string' && example !== '' ? example : null;
}

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { HistoryRecord, RecordHistory } from '../../pipeline/bus/state/record-history.ts';
import { HttpError } from '../../pipeline/core/errors.ts';

/** Who makes a change. `token`: a digest of the admin token; `client`: the client's own name for itself, which is not verified. */
export type AuditActor = { readonly token?: string; readonly client?: string; readonly address?: string };

/** What is to be changed, before it is. */
export type AuditChange = {
  readonly action: string;
  readonly actor: AuditActor;
  readonly requestId?: string;
  readonly tenant?: number;
  readonly key?: string;
  /** What was requested, without secrets. */
  readonly details: Readonly<Record<string, unknown>>;
};

/** What became of it: `begun` where that was not written any more, since the process ended then. */
export type AuditState = 'begun' | 'done' | 'refused' | 'failed';

/** A line of the audit log: a change, and what became of it. */
export type AuditLine = AuditChange & {
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  readonly state: AuditState;
  /** Why it was refused, or failed. */
  readonly reason?: string;
};

/** What a change was made to, where that is known only then. */
export type AuditSubject = Pick<AuditLine, 'tenant' | 'key'>;

export type AuditQuery = { readonly tenant: number | null; readonly since: number; readonly limit: number };

/** Time to read the log. Milliseconds. */
const READ_MS = 12_000;

/**
 * The audit log of administration. Each change has a line before it is made, and is acknowledged once that line also has its outcome:
 * both are one record key, of which the later one counts.
 */
export class AdminAudit {
  readonly #history: Pick<RecordHistory, 'append' | 'read'>;
  readonly #log: Logger;
  readonly #clock: () => number;

  constructor(history: Pick<RecordHistory, 'append' | 'read'>, log: Logger, clock: () => number = Date.now) {
    this.#history = history;
    this.#log = log;
    this.#clock = clock;
  }

  /**
   * Makes a change between its two lines. Throws what it threw. HttpError 503 where the log cannot be written: before the change nothing is
   * changed; after it the detail states that the change was made.
   */
  async around<T>(change: AuditChange, make: () => Promise<T>, subjectOf: (made: T) => AuditSubject): Promise<T> {
    const line: AuditLine = { ...change, id: randomUUID(), time: new Date(this.#clock()).toISOString(), state: 'begun' };
    await this.#append(line, 'The audit log cannot be written, so nothing was changed; retry later.');
    let made: T;
    try {
      made = await make();
    } catch (error) {
      const isRefused = error instanceof HttpError && error.status < 500;
      const reason = error instanceof HttpError ? error.message : 'It failed unexpectedly.';
      await this.#append({ ...line, state: isRefused ? 'refused' : 'failed', reason }, '').catch(() => undefined);
      throw error;
    }
    await this.#append({ ...line, ...subjectOf(made), state: 'done' }, 'The change was made, but the audit log could not be completed.');
    return made;
  }

  /** The last changes since a time (milliseconds), the newest first. False in place of them where the log could not be read in time. */
  async read({ tenant, since, limit }: AuditQuery): Promise<readonly AuditLine[] | false> {
    const lines = new Map<string, AuditLine>();
    const until = this.#clock() + READ_MS;
    const take = (records: readonly HistoryRecord[]): boolean => {
      for (const record of records) {
        const line = parseLine(record);
        if (line === null) continue;
        // of a new tenant it is known only in the end whose change it was
        if (tenant !== null && line.tenant !== tenant) lines.delete(line.id);
        else lines.set(line.id, line);
        if (lines.size > limit) lines.delete(lines.keys().next().value ?? '');
      }
      return this.#clock() < until;
    };
    if (!(await this.#history.read(since, take))) return false;
    return [...lines.values()].reverse();
  }

  async #append(line: AuditLine, detail: string): Promise<void> {
    try {
      await this.#history.append(line.id, JSON.stringify(line));
    } catch (error) {
      const { id, action, state, requestId } = line;
      this.#log.error({ err: error, id, action, state, requestId }, 'The admin audit log is unavailable.');
      throw new HttpError(503, 'audit_unavailable', detail, { retryAfter: 5, cause: error });
    }
  }
}

const STATES: readonly unknown[] = ['begun', 'done', 'refused', 'failed'] satisfies AuditState[];

/** A line of the topic; null for what is not one. */
function parseLine({ key, value }: HistoryRecord): AuditLine | null {
  try {
    const line = JSON.parse(value) as Partial<AuditLine> | null;
    const isLine = line?.id === key && typeof line.action === 'string' && typeof line.time === 'string' && STATES.includes(line.state);
    return isLine ? (line as AuditLine) : null;
  } catch {
    return null;
  }
}

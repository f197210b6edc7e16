import { MAX_ENDED } from './bounds.ts';
import type { ControlStore } from './control-store.ts';
import { endedKey, type EndedSessionsRecord } from './records.ts';

/** Ends a session on every node. Where too many of its key have ended before their time, all that began up to now end. */
export function endSession(
  control: ControlStore,
  { keyId, id, expiresAt }: { readonly keyId: string; readonly id: string; readonly expiresAt: number },
  now = Date.now(),
): Promise<EndedSessionsRecord> {
  const key = endedKey(keyId);
  return control.write<EndedSessionsRecord>(
    key,
    () => control.record(key) as EndedSessionsRecord | undefined,
    (current) => {
      const left = (current?.sessions ?? []).filter((session) => session.id !== id && Date.parse(session.until) > now);
      const before = current?.before ?? null;
      if (left.length >= MAX_ENDED) return { keyId, sessions: [], before: new Date(now).toISOString() };
      return { keyId, sessions: [...left, { id, until: new Date(expiresAt).toISOString() }], before };
    },
  );
}

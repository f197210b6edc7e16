/** The session of a tab: it survives a reload, and ends before the service would refuse it. */

const KEY = 'logweir.session';
/** The service takes 12 hours and 256 MB. */
const MOST_MS = 11 * 3_600_000;
const MOST_BYTES = 200_000_000;

export type Session = {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly begun: number;
  /** Whether it belongs to the share that is recorded. */
  readonly isRecorded: boolean;
  /** The number of the next batch. */
  seq: number;
  bytes: number;
};

const newSession = (share: number): Session => ({
  id: crypto.randomUUID(),
  ...{ begun: Date.now(), isRecorded: Math.random() < share, seq: 0, bytes: 0 },
});

function stored(): Session | null {
  try {
    const session = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Session | null;
    return typeof session?.id === 'string' && typeof session.seq === 'number' ? session : null;
  } catch {
    return null;
  }
}

/** Keeps where the session is: a page that follows goes on with the next number. */
export function keep(session: Session): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(session));
  } catch {
    // without storage each page is a session of its own
  }
}

export const isOver = ({ begun, bytes }: Session): boolean => Date.now() - begun > MOST_MS || bytes > MOST_BYTES;

/** The session of this tab, or a new one. A tab that was duplicated has a copy of the other one's, which still holds its lock: then it is a new one. */
export async function openSession(share: number): Promise<Session> {
  const known = stored();
  const session = known === null || isOver(known) || !(await isFree(known.id)) ? newSession(share) : known;
  if (session !== known) await isFree(session.id);
  keep(session);
  return session;
}

/** Begins another session in this tab. */
export function nextSession(share: number): Session {
  const session = newSession(share);
  void isFree(session.id);
  keep(session);
  return session;
}

/** Takes the lock of a session for as long as this page lives; false where another tab has it. The page before it in this tab may be about to leave it. */
async function isFree(id: string): Promise<boolean> {
  if (!('locks' in navigator)) return true;
  for (let attempt = 0; attempt < 5; attempt++) {
    const taken = await new Promise<boolean>((resolve) => {
      navigator.locks
        .request(`logweir ${id}`, { ifAvailable: true }, (lock) => {
          resolve(lock !== null);
          return lock === null ? undefined : new Promise<never>(() => undefined);
        })
        .catch(() => {
          resolve(true);
        });
    });
    if (taken) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

import type { AdminCommand } from './admin-command.ts';

/** What the service tells of a backup or a restore. */
type Job = Readonly<Record<'id' | 'kind' | 'at' | 'state' | 'step', string>> & {
  readonly done_bytes?: number | null;
  readonly of_bytes?: number | null;
  readonly detail?: string | null;
  readonly result?: Readonly<Record<string, unknown>> | null;
};

const command = (name: string, path: string, help: string, columns: readonly string[]): AdminCommand => ({
  ...{ name, help, required: ['at'], optional: ['set'], columns: ['at', 'state', 'rows', 'bytes', ...columns] },
  request: (flags) => ({ method: 'POST', path, body: { at: flags['at'], ...(flags['set'] === undefined ? {} : { set: flags['set'] }) } }),
  follow: (answer) => {
    const job = answer as Job;
    if (job.state === 'failed') throw new Error(`The ${job.kind} has failed. ${job.detail ?? ''}`);
    return job.state === 'running' ? { path: `/admin/backups/${job.id}`, progress: progressOf(job) } : null;
  },
  shown: (answer) =>
    ([answer].flat() as readonly Job[]).map(({ result, ...job }) => {
      const { notes, ...rest } = result ?? {};
      return { ...job, ...rest, ...(Array.isArray(notes) ? { notes: notes.join(' ') } : {}) };
    }),
});

function progressOf({ kind, step, done_bytes: done, of_bytes: of }: Job): string {
  const far = typeof done === 'number' && typeof of === 'number' && of > 0 ? ` (${String(done)} of ${String(of)} bytes)` : '';
  return `${kind}: ${step}${far} …`;
}

/** Backing up and restoring what is stored; each is followed to its end. */
export const BACKUP_COMMANDS: readonly AdminCommand[] = [
  command(
    'backup',
    '/admin/backups',
    'Backs the tables of a set (--set, else the first) up while all goes on: to NAME in LOGWEIR_BACKUP_DIR, disk:DISK/NAME of the server, or the URL of a prefix on S3.',
    ['parts', 'noted_at'],
  ),
  command(
    'restore',
    '/admin/restores',
    'Restores a backup, of whichever set, into the empty database of a set (--set, else the first) while no sink of it runs; the sinks then go on from the log, so that each entry is there once.',
    ['noted_at', 'records_to_read', 'lost_records', 'notes'],
  ),
];

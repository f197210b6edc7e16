import Joi from 'joi';
import { notFound } from '../../pipeline/core/errors.ts';
import type { AdminRoute } from '../admin/admin-routes.ts';
import { checkedBody } from '../http/checked-body.ts';
import { backUp } from './backup.ts';
import { BackupJobs } from './jobs.ts';
import type { Manifest } from './manifest.ts';
import { readPlace, type Places } from './place.ts';
import { restore, type Restored } from './restore.ts';
import type { BackupSources } from './sources.ts';

/** Where it lies, and the set that is backed up or restored: the first one unless told. */
const placeBody = Joi.object<{ at: string; set?: string }>({ at: Joi.string().required(), set: Joi.string() });

/**
 * Backing up and restoring the tables: each is begun, and then asked for how far it is. `sources` gives those of a set, which are opened when the
 * first one begins, and closed with the process; it throws HttpError 400 for a set that there is not.
 */
export function backupRoutes(sources: (set?: string) => Promise<BackupSources>, places: Places): AdminRoute[] {
  const jobs = new BackupJobs();
  return [
    {
      method: 'POST',
      path: '/admin/backups',
      action: 'backup',
      handle: async ({ body }) => {
        const { at, set } = checkedBody(placeBody, await body());
        const place = readPlace(at, places);
        const from = await sources(set);
        const job = jobs.begin('backup', at, async (report) => shownBackup(await backUp(from, place, report)));
        return { status: 202, body: job };
      },
    },
    {
      method: 'POST',
      path: '/admin/restores',
      action: 'restore',
      handle: async ({ body }) => {
        const { at, set } = checkedBody(placeBody, await body());
        const place = readPlace(at, places);
        const into = await sources(set);
        const job = jobs.begin('restore', at, async (report) => shownRestore(await restore(into, place, report)));
        return { status: 202, body: job };
      },
    },
    {
      method: 'GET',
      path: '/admin/backups/{backup}',
      handle: ({ params }) => {
        const job = jobs.find(params['backup'] ?? '');
        if (job === null) throw notFound('No such backup or restore is known here: the service may have been started again meanwhile.');
        return Promise.resolve({ status: 200, body: job });
      },
    },
  ];
}

function shownBackup({ tables, positions, madeAt, schema }: Manifest): object {
  const sum = (of: (table: Manifest['tables'][number]) => number): number => tables.reduce((total, table) => total + of(table), 0);
  return {
    ...{ rows: sum(({ rows }) => rows), bytes: sum(({ bytes }) => bytes), parts: sum(({ parts }) => parts), noted_at: madeAt, schema },
    ...{ behind: positions.reduce((total, { offset, low, end }) => total + end - Math.max(offset, low), 0), tables },
  };
}

const shownRestore = ({ rows, bytes, again, lost, notes, manifest: { madeAt, program } }: Restored): object => ({
  ...{ rows, bytes, noted_at: madeAt, program, records_to_read: again, lost_records: lost, notes },
});

import { registry } from '../../pipeline/core/registry.ts';
import type { Role } from './role.ts';

/** A role, whose modules are loaded by the processes that have it alone: all of them would be half of the work of a start. */
export type RoleEntry = { readonly name: string; readonly load: () => Promise<Role> };

/** Every role that a process can have. */
export const roles = registry<RoleEntry>(
  ({ name }) => [name],
  [
    { name: 'sink', load: async () => (await import('./sink.ts')).sinkRole },
    { name: 'processors', load: async () => (await import('./processors.ts')).processorsRole },
    { name: 'app', load: async () => (await import('./app.ts')).appRole },
    { name: 'doors', load: async () => (await import('./doors.ts')).doorsRole },
    { name: 'ingest', load: async () => (await import('./ingest.ts')).ingestRole },
  ],
);

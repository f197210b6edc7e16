import { registry } from '../../pipeline/core/registry.ts';
import { appRole } from './app.ts';
import { guardRole } from './guard.ts';
import { ingestRole } from './ingest.ts';
import { processorsRole } from './processors.ts';
import type { Role } from './role.ts';
import { sinkRole } from './sink.ts';

/** Every role that a process can have. */
export const roles = registry<Role>((role) => [role.name], [guardRole, sinkRole, processorsRole, appRole, ingestRole]);

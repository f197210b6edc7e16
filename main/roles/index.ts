import { registry } from '../../pipeline/core/registry.ts';
import { appRole } from './app.ts';
import { ingestRole } from './ingest.ts';
import { processorsRole } from './processors.ts';
import type { Role } from './role.ts';
import { sinkRole } from './sink.ts';

/** Every role that a process can have. */
export const roles = registry<Role>((role) => [role.name], [sinkRole, processorsRole, appRole, ingestRole]);

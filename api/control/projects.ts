import { randomBytes } from 'node:crypto';
import { HttpError, notFound, planGate } from '../../pipeline/core/errors.ts';
import type { Plan } from '../tenants/plans.ts';
import { requireTenant } from './accounts.ts';
import { MAX_PROJECTS } from './bounds.ts';
import type { ControlStore } from './control-store.ts';
import { effectivePlan } from './flags.ts';
import type { ProjectRecord } from './records.ts';
import { changeIn, createIn, liveIn } from './slots.ts';

const MISSING = 'There is no such project.';

/** What a client sets of a project. */
export type ProjectFields = Pick<ProjectRecord, 'name' | 'filter' | 'labels'>;

/** The projects of a tenant, oldest first. */
export const projectsOf = (control: Pick<ControlStore, 'slots'>, tenantId: number): ProjectRecord[] =>
  liveIn<ProjectRecord>(control, 'project', tenantId);

/** Throws HttpError 404 where the tenant has none of this id. */
export function requireProject(control: Pick<ControlStore, 'slots'>, tenantId: number, id: string): ProjectRecord {
  const found = projectsOf(control, tenantId).find((record) => record.id === id);
  if (found === undefined) throw notFound(MISSING);
  return found;
}

/** Throws HttpError 403 where the plan has no projects, or no more of them. */
export function requireCapacityForProject(
  control: Pick<ControlStore, 'slots'>,
  { tenantId, plan }: { readonly tenantId: number; readonly plan: Plan },
): void {
  if (plan.features.projects === 0) throw planGate(403, 'For this account multi-project is not enabled.');
  const most = Math.min(plan.features.projects, MAX_PROJECTS);
  if (projectsOf(control, tenantId).length >= most)
    throw planGate(403, `The project limit was reached: the plan ${plan.name} has ${String(most)}. Delete one, or change the plan.`);
}

/** Creates a project. Throws HttpError 403 where the plan has none, or no more; 409 for a name that is taken. */
export function createProject(control: ControlStore, tenantId: number, fields: ProjectFields): Promise<ProjectRecord> {
  const refusal = (): HttpError | null => {
    requireCapacityForProject(control, { tenantId, plan: effectivePlan(requireTenant(control, tenantId)) });
    return taken(projectsOf(control, tenantId), fields.name);
  };
  const fieldsOf = { ...fields, id: `pr_${randomBytes(9).toString('base64url')}`, updatedAt: new Date().toISOString() };
  return createIn<ProjectRecord>(control, 'project', tenantId, fieldsOf, refusal);
}

const taken = (own: readonly ProjectRecord[], name: string, id?: string): HttpError | null =>
  own.some((record) => record.name === name && record.id !== id)
    ? new HttpError(409, 'conflict', `There is a project named ${JSON.stringify(name)} already.`)
    : null;

/** Renames or changes a project, or deletes it: its keys are refused from then on. Throws HttpError 404 and 409. */
export async function changeProject(
  control: ControlStore,
  tenantId: number,
  id: string,
  change: Partial<ProjectFields> | { readonly isDeleted: true },
): Promise<ProjectRecord> {
  const found = requireProject(control, tenantId, id);
  const refused = 'name' in change ? taken(projectsOf(control, tenantId), change.name, id) : null;
  if (refused !== null) throw refused;
  return changeIn<ProjectRecord>(control, 'project', found, () => ({ ...change, updatedAt: new Date().toISOString() }), MISSING);
}

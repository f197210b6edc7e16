import { LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import type { Filter } from '../../logsql/base/types.ts';
import { parseFilter } from '../../logsql/parser/parser.ts';
import { invalidBody } from '../../pipeline/core/errors.ts';
import { changeProject, createProject, projectsOf, requireCapacityForProject, requireProject } from '../control/projects.ts';
import type { ProjectRecord } from '../control/records.ts';
import { checkedBody } from '../http/checked-body.ts';
import { pageOf } from '../http/lists.ts';
import type { Route, RouteContext } from '../http/route.ts';
import * as described from './described-projects.ts';
import type { AccountRoutesOptions } from './key-routes.ts';

const BASE = '/api/v1/account/projects';
const ONE = `${BASE}/{project_id}`;
const NANOSECONDS = 1_000_000n;

/** The projects of the tenant of the key. A change is answered after every process of this instance has it. */
export function createProjectRoutes({ control, settled }: AccountRoutesOptions): readonly Route[] {
  const at = ({ principal, params }: RouteContext): [number, string] => [principal.tenantId, params['project_id'] ?? ''];
  return [
    {
      ...{ method: 'GET', path: BASE, scope: 'read', operation: described.PROJECTS },
      handle: ({ principal, query }) =>
        Promise.resolve({ status: 200, body: pageOf(projectsOf(control, principal.tenantId).map(shown), described.PROJECT_LIST, query) }),
    },
    {
      ...{ method: 'POST', path: BASE, scope: 'write', operation: described.CREATE_PROJECT },
      handle: async (context) => {
        // the gate stands before the body
        requireCapacityForProject(control, context.principal);
        const { name, labels: given, filter } = checkedBody(described.PROJECT_BODY, await context.body());
        const labels = given ?? (filter === undefined ? { project: name } : {});
        const fields = { name, labels, filter: checkedFilter(filter ?? filterOf(labels)) };
        const record = await createProject(control, context.principal.tenantId, fields);
        await settled();
        return { status: 201, body: shown(record) };
      },
    },
    {
      ...{ method: 'GET', path: ONE, scope: 'read', operation: described.ONE_PROJECT },
      handle: (context) => Promise.resolve().then(() => ({ status: 200, body: shown(requireProject(control, ...at(context))) })),
    },
    {
      ...{ method: 'PUT', path: ONE, scope: 'write', operation: described.CHANGE_PROJECT },
      handle: async (context) => {
        requireProject(control, ...at(context));
        const change = checkedBody(described.PROJECT_CHANGE, await context.body());
        if (change.filter !== undefined) checkedFilter(change.filter);
        const record = await changeProject(control, ...at(context), change);
        await settled();
        return { status: 200, body: shown(record) };
      },
    },
    {
      ...{ method: 'DELETE', path: ONE, scope: 'write', operation: described.DELETE_PROJECT },
      handle: async (context) => {
        await changeProject(control, ...at(context), { isDeleted: true });
        await settled();
        return { status: 204 };
      },
    },
  ];
}

/** LogsQL of what has all of these labels. */
function filterOf(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${JSON.stringify(name)}=${JSON.stringify(value)}`);
  if (parts.length === 0) throw invalidBody('A project needs "filter" or "labels": else its keys would read all of the tenant.');
  return `{${parts.join(',')}}`;
}

const hasSubquery = (filter: Filter): boolean => filter.subquery !== undefined || (filter.parts ?? []).some(hasSubquery);

function checkedFilter(text: string): string {
  try {
    if (hasSubquery(parseFilter(text, { now: BigInt(Date.now()) * NANOSECONDS })))
      throw invalidBody('"filter" cannot hold a query of its own.');
  } catch (error) {
    if (error instanceof LogsqlSyntaxError) throw invalidBody(`"filter": ${error.message}.`);
    throw error;
  }
  return text;
}

const shown = ({ id, name, filter, labels, createdAt, updatedAt }: ProjectRecord): object => ({
  ...{ id, name, filter, labels, created_at: createdAt, updated_at: updatedAt },
});

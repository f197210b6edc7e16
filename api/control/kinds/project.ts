import Joi from 'joi';
import { publishTenant } from '../known-keys.ts';
import { MAX_PROJECTS } from '../bounds.ts';
import { slotKey, type ProjectRecord } from '../records.ts';
import { indexSlot } from '../state.ts';
import { recordOf, slotMembers, time, type RecordKind } from './kind.ts';

export const projectKind: RecordKind<ProjectRecord> = {
  name: 'project',
  about: 'A part of a tenant: a filter that narrows what its keys read, and labels that are added to what they write.',
  key: 'project:TENANT:SLOT',
  bounds: `As many as the plan allows (\`features.projects\`), ${String(MAX_PROJECTS)} slots of a tenant.`,
  deletion: 'Its slot is kept as deleted, and used again. Its keys are refused from then on.',
  routes: [
    'GET /api/v1/account/projects',
    'POST /api/v1/account/projects',
    'GET /api/v1/account/projects/{project_id}',
    'PUT /api/v1/account/projects/{project_id}',
    'DELETE /api/v1/account/projects/{project_id}',
  ],
  commands: ['projects'],
  schema: recordOf({
    ...slotMembers(MAX_PROJECTS),
    name: Joi.string().required(),
    filter: Joi.string().required(),
    labels: Joi.object().pattern(Joi.string(), Joi.string()).required(),
    updatedAt: time.required(),
  }),
  tenantOf: ({ tenantId }) => tenantId,
  emptied: (project) => ({ ...project, isDeleted: true, name: '-', filter: '*', labels: {} }),
  keyOf: (record) => slotKey('project', record),
  index: (state, record) => {
    indexSlot(state, 'project', record);
    publishTenant(state, record.tenantId);
  },
};

import Joi from 'joi';
import { MAX_PLAYBOOK_CHARACTERS, MAX_PLAYBOOKS } from '../bounds.ts';
import { slotKey, type PlaybookRecord } from '../records.ts';
import { indexSlot } from '../state.ts';
import { recordOf, slotMembers, type RecordKind } from './kind.ts';

const names = Joi.array().items(Joi.string()).required();

export const playbookKind: RecordKind<PlaybookRecord> = {
  name: 'playbook',
  about: 'What a team does about alerts of a kind, and for which alerts that is.',
  key: 'playbook:TENANT:SLOT',
  bounds: `${String(MAX_PLAYBOOKS)} slots of a tenant, and ${String(MAX_PLAYBOOK_CHARACTERS)} characters of all.`,
  deletion: 'Its slot is kept as deleted, and used again.',
  routes: [
    'GET /api/v1/ai/playbooks',
    'POST /api/v1/ai/playbooks',
    'GET /api/v1/ai/playbooks/{playbook_id}',
    'DELETE /api/v1/ai/playbooks/{playbook_id}',
  ],
  commands: ['playbooks'],
  schema: recordOf({
    ...slotMembers(MAX_PLAYBOOKS),
    name: Joi.string().allow('').required(),
    text: Joi.string().allow('').required(),
    ...{ services: names, detectors: names, rules: names },
    pattern: Joi.string().allow('').required(),
    isDrafted: Joi.boolean().required(),
    owner: Joi.string().required(),
  }),
  tenantOf: ({ tenantId }) => tenantId,
  emptied: (playbook) => ({ ...playbook, ...EMPTY_PLAYBOOK, isDeleted: true }),
  keyOf: (record) => slotKey('playbook', record),
  index: (state, record) => {
    indexSlot(state, 'playbook', record);
  },
};

/** What is left of one that was deleted. */
export const EMPTY_PLAYBOOK = { name: '', text: '', services: [], detectors: [], rules: [], pattern: '' } as const;

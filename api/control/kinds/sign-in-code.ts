import Joi from 'joi';
import { slotKey, type SignInCodeRecord } from '../records.ts';
import { indexSlot } from '../state.ts';
import { MAX_CODES } from '../bounds.ts';
import { recordOf, slotMembers, time, type RecordKind } from './kind.ts';

export const signInCodeKind: RecordKind<SignInCodeRecord> = {
  name: 'code',
  about: 'A code that signs a browser in once, within five minutes: the hash of it, and the key that it stands for.',
  key: 'code:TENANT:SLOT',
  bounds: `${String(MAX_CODES)} slots of a tenant.`,
  deletion: 'One that was used is kept as deleted; its slot is used again, as that of one that has expired.',
  routes: ['POST /api/v1/session', 'POST /admin/tenants/{tenant}/session-codes'],
  commands: ['admin session code'],
  schema: recordOf({
    ...slotMembers(MAX_CODES),
    keyId: Joi.string().required(),
    hash: Joi.string().hex().length(64).required(),
    expiresAt: time.required(),
  }),
  tenantOf: ({ tenantId }) => tenantId,
  emptied: (code) => ({ ...code, isDeleted: true }),
  keyOf: (record) => slotKey('code', record),
  index: (state, record) => {
    indexSlot(state, 'code', record);
  },
};

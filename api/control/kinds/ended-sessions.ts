import Joi from 'joi';
import { MAX_ENDED } from '../bounds.ts';
import { endedKey, type EndedSessionsRecord } from '../records.ts';
import { recordOf, time, type RecordKind } from './kind.ts';

export const endedSessionsKind: RecordKind<EndedSessionsRecord> = {
  name: 'ended',
  about: 'The browser sessions of a key that have signed out before their time.',
  key: 'ended:KEY',
  bounds: `One for each key, with ${String(MAX_ENDED)} sessions; where more sign out, all sessions of the key up to then end.`,
  deletion: 'A session leaves it when it would have expired.',
  routes: ['DELETE /api/v1/session'],
  commands: [],
  schema: recordOf({
    keyId: Joi.string().required(),
    sessions: Joi.array()
      .items(Joi.object({ id: Joi.string().required(), until: time.required() }).unknown(true))
      .required(),
    before: time.allow(null).required(),
  }),
  tenantOf: ({ keyId }, { keys }) => keys.get(keyId)?.tenantId ?? null,
  emptied: (ended) => ended,
  keyOf: ({ keyId }) => endedKey(keyId),
  index: (state, record) => {
    state.ended.set(record.keyId, record);
  },
};

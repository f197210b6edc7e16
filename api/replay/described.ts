/** The description of the endpoints of session replay. */
import Joi from 'joi';
import { SESSION_ID } from '../../pipeline/replay/chunk.ts';
import { anyMembers, HINTS_MEMBER, json, LINES_TYPE, list, members, ok, text, type Operation } from '../http/operation.ts';
import { SEARCH } from '../search/described.ts';
import { eventsSchema, logsSchema, sessionsSchema, tracesSchema } from './parameters.ts';

const path = Joi.object({ session: Joi.string().pattern(SESSION_ID) });
const hints = { hints: HINTS_MEMBER };
const errors = [404];

export const SESSIONS: Operation = {
  ...{ id: 'listSessions', tag: 'replay', summary: 'Sessions of a window, by LogsQL over their fields', query: sessionsSchema },
  answers: ok(Joi.object({ sessions: list(anyMembers()).required(), hints: HINTS_MEMBER }).unknown()),
};
export const SESSION: Operation = {
  ...{ id: 'getSession', tag: 'replay', summary: 'What is known of a session', path, errors },
  answers: ok(anyMembers()),
};
export const EVENTS: Operation = {
  ...{ id: 'getSessionEvents', tag: 'replay', summary: "rrweb's events of a session, as JSON lines", path, query: eventsSchema, errors },
  answers: {
    200: { description: 'An event in each line, from the last full snapshot before `from` on.', content: { [LINES_TYPE]: text() } },
  },
};
export const LOGS: Operation = {
  ...{
    id: 'searchSessionLogs',
    tag: 'replay',
    summary: 'The entries of a session',
    path,
    query: logsSchema,
    errors,
    answers: SEARCH.answers,
  },
};
export const TRACES: Operation = {
  ...{ id: 'listSessionTraces', tag: 'replay', summary: 'The traces of a session', path, query: tracesSchema, errors },
  answers: ok(members({ traces: list(anyMembers()) }, hints)),
};
export const DELETE: Operation = {
  ...{ id: 'deleteSession', tag: 'replay', summary: 'Deletes a session', path, errors },
  answers: { 202: json(members({ status: Joi.string().valid('ok'), session_id: text() }), 'The deletion is on the log.') },
};

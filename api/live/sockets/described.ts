/** The description of WebSockets: the request that opens one, and what refuses it. Messages are in docs/live.md. */
import type Joi from 'joi';
import type { Operation } from '../../http/operation.ts';

/** `query`: the parameters of the path. The others are of the handshake (RFC 6455, 4.1). */
export const socketOperation = (named: Pick<Operation, 'id' | 'summary' | 'description'>, query?: Joi.ObjectSchema): Operation => ({
  ...named,
  tag: 'live',
  ...(query === undefined ? {} : { query }),
  answers: { 101: { description: 'The connection is a WebSocket from here on.' } },
  errors: [400, 426],
});

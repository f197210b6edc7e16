import Joi from 'joi';
import { forbidden } from '../../pipeline/core/errors.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import { packageVersion } from '../../pipeline/core/package-root.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { anyMembers, json, jsonBody, members, text, type Operation } from '../http/operation.ts';
import { ToolServer } from './tool-server.ts';

const rpc = Joi.string().valid('2.0');
const id = Joi.alternatives(Joi.string(), Joi.number()).allow(null);
const failure = members({ jsonrpc: rpc, error: anyMembers() }, { id });
const described: Operation = {
  ...{ id: 'callMcp', tag: 'mcp', summary: 'One message of the Model Context Protocol (streamable HTTP, without sessions)' },
  description: 'For MCP clients (docs/ai.md). Each tool is an operation of this API, with its parameters, limits and errors.',
  body: jsonBody(members({ jsonrpc: rpc, method: text() }, { id, params: anyMembers() })),
  answers: {
    200: json(Joi.alternatives(members({ jsonrpc: rpc, id, result: anyMembers() }), failure), 'The answer, or an error of JSON-RPC.'),
    202: { description: 'A notification was taken.' },
    400: json(Joi.alternatives(failure, members({ detail: text(), request_id: text() })), 'The body must be a message of JSON-RPC.'),
    406: json(failure, 'The client must accept `application/json` and `text/event-stream`.'),
    415: json(failure, 'The body must be `application/json`.'),
  },
};

export type McpOptions = {
  /** Origins of pages that may use it. */
  readonly corsOrigins: readonly string[];
  readonly metrics: Pick<Metrics, 'requests'>;
};

/**
 * `POST /mcp`: an MCP server whose tools are operations of these endpoints. A page may use it only where its origin is allowed by name, so that a
 * page which reaches this host under another name cannot.
 */
export function mcpEndpoint(others: readonly Endpoint[], { corsOrigins, metrics }: McpOptions): Endpoint {
  const server = new ToolServer({
    endpoints: others,
    version: packageVersion(),
    onCalled: ({ endpoint: { path }, method }, { status }, seconds) => {
      metrics.requests.observe({ route: path, method, status: String(status) }, seconds);
    },
  });
  return {
    ...{ methods: ['POST'], path: '/mcp', errors: 'query', access: { plane: 'app', scope: 'read' }, operation: described },
    handle: async (exchange) => {
      const origin = exchange.header('origin');
      if (origin !== '' && !corsOrigins.includes(origin) && !corsOrigins.includes('*'))
        throw forbidden('Pages of this origin may not use /mcp; LOGWEIR_CORS_ORIGINS names those that may.');
      return server.answer(exchange);
    },
  };
}

import type { Endpoint } from '../http/endpoint.ts';
import { anyMembers, ok } from '../http/operation.ts';
import { openApi } from './document.ts';

/** `GET /openapi.json`: the description of all endpoints of this host, itself among them. It is made when it is first requested. */
export function openApiEndpoint(others: readonly Endpoint[]): Endpoint {
  let made: Buffer | null = null;
  const endpoint: Endpoint = {
    ...{ methods: ['GET'], path: '/openapi.json', errors: 'query', access: { plane: 'app', scope: 'read' }, isNarrowed: true },
    operation: {
      ...{ id: 'getDescription', tag: 'service', summary: 'This description, as OpenAPI 3.1' },
      answers: ok(anyMembers()),
    },
    handle: () => {
      made ??= Buffer.from(JSON.stringify(openApi([...others, endpoint])));
      return Promise.resolve({ status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: made, isConstant: true });
    },
  };
  return endpoint;
}

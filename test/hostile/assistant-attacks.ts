/** What a tenant does with `/mcp` and with the AI endpoints: without a model these still read, check and count. */
import { MAX_CALL_BYTES } from '../../api/mcp/tool-server.ts';
import type { AttackRequest, RequestAttack } from './attack.ts';

const JSON_TYPE = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
/** Bodies of the app plane are no larger. */
const MOST = 1024 * 1024;
const MANY = 50_000;
/** What a message of MCP has room for. */
const MANY_OF_CALL = 8000;

const mcp = (name: string, atOnce: number, bodyOf: (round: number) => string): RequestAttack => ({
  ...{ name, kind: 'query', atOnce },
  request: (_target, round): AttackRequest => ({ host: 'app', method: 'POST', path: '/mcp', headers: JSON_TYPE, body: bodyOf(round) }),
});
const ai = (name: string, path: string, atOnce: number, bodyOf: (round: number) => string): RequestAttack => ({
  ...{ name, kind: 'query', atOnce },
  request: ({ tenantId }, round): AttackRequest => ({
    ...{ host: 'app', method: 'POST', headers: JSON_TYPE, body: bodyOf(round) },
    path: `/api/v1/tenants/${String(tenantId)}/ai/${path}`,
  }),
});

const call = (round: number, method: string, params: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: round, method, params });
/** A call of a tool that there is: another name is refused before its arguments are looked at (attacks.test.ts). */
const tool = (round: number, name: string, args: unknown): string => call(round, 'tools/call', { name, arguments: args });
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
/** As wide a search as there is, through a tool: its answer has to be bounded. */
const WIDE = { query: '*', start: '-9h', end: 'now', limit: 10_000 };

export const ASSISTANT_ATTACKS: readonly RequestAttack[] = [
  mcp('mcp-tool-lists', 64, (round) => call(round, 'tools/list', {})),
  mcp('mcp-searches', 32, (round) => tool(round, 'search_logs', WIDE)),
  mcp('mcp-regexps', 32, (round) => tool(round, 'search_logs', { ...WIDE, query: '~"(a+)+$" | stats by (_msg) count()' })),
  mcp('mcp-batches', 16, (round) => `[${Array.from({ length: 2000 }, () => call(round, 'tools/list', {})).join()}]`),
  mcp('mcp-deep', 32, (round) => `{"jsonrpc":"2.0","id":${String(round)},"method":"tools/call","params":${nested(15_000)}}`),
  mcp('mcp-members', 16, (round) =>
    tool(round, 'search_logs', Object.fromEntries(Array.from({ length: MANY_OF_CALL }, (_none, at) => [`m${String(at)}`, at]))),
  ),
  mcp('mcp-names', 64, (round) => tool(round, ['__proto__', 'constructor', '../search', 'x'.repeat(100_000)][round % 4] ?? '', {})),
  mcp('mcp-large', 16, (round) => tool(round, 'search_logs', { query: 'x'.repeat(MOST - 1000) })),
  mcp('mcp-largest', 32, (round) => tool(round, 'search_logs', { query: 'x'.repeat(MAX_CALL_BYTES - 1000) })),
  ai('ai-questions', 'query', 64, () => JSON.stringify({ question: 'x'.repeat(2000) })),
  ai('ai-entries', 'explain', 64, () => JSON.stringify({ query: '* | sort by (_msg)', start: '-9h', deep: true })),
  ai('ai-deep', 'explain', 32, () => nested(100_000)),
  ai('ai-members', 'explain', 16, () => `{${Array.from({ length: MANY }, (_none, at) => `"__proto__${String(at)}":1`).join()}}`),
];

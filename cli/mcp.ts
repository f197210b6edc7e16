import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { findTarget, TARGET_FLAGS, TARGET_HELP, type Env } from './client.ts';
import { readFlags, wantsHelp } from './flags.ts';
import { EXIT, outputOf, type Sink } from './output.ts';

const HELP = `Usage: logweir mcp [flags]
An MCP server on standard input and output, for AI assistants that start one. It passes messages on to /mcp of a running service, whose answers they
are: the key decides what it reads, and whether it may change something. docs/ai.md has settings of clients.

${TARGET_HELP}`;

/** The error of JSON-RPC for a message that could not be passed on. */
const INTERNAL_ERROR = -32_603;

const idOf = (message: JSONRPCMessage): RequestId | undefined => ('method' in message && 'id' in message ? message.id : undefined);

/** `logweir mcp`: joins an MCP client that started this process with the service's `/mcp`. Resolves when the client closes its end. */
export async function mcpCommand(argv: readonly string[], env: Env, to: Sink): Promise<number> {
  const output = outputOf(to, env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const { values } = readFlags(argv, { values: TARGET_FLAGS }, HELP);
  const { appUrl, key } = findTarget(values, env);
  // loaded by this command alone
  const [{ StdioServerTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  const client = new StdioServerTransport();
  const service = new StreamableHTTPClientTransport(new URL(`${appUrl}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  const open = new Set<Promise<void>>();
  const pass = async (message: JSONRPCMessage): Promise<void> => {
    try {
      await service.send(message);
    } catch (error) {
      const why = `${reasonOf(error)} (${appUrl})`;
      output.err(`logweir mcp: ${why}\n`);
      const id = idOf(message);
      if (id !== undefined) await client.send({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: why } });
    }
  };
  service.onmessage = (message) => {
    if ('result' in message && typeof message.result['protocolVersion'] === 'string')
      service.setProtocolVersion(message.result['protocolVersion']);
    void client.send(message);
  };
  client.onmessage = (message) => {
    const passing = pass(message).finally(() => open.delete(passing));
    open.add(passing);
  };
  await service.start();
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve));
  await client.start();
  await ended;
  await Promise.all(open);
  await service.close();
  return EXIT.ok;
}

/** Why a message was not passed on: the sentence of the service, where it answered. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const detail = /"detail":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  if (detail !== undefined) return JSON.parse(detail) as string;
  return text === 'fetch failed' ? 'No service answers; is Logweir running there?' : text.slice(0, 500);
}

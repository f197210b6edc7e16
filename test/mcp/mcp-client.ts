import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import path from 'node:path';

const CLI = path.resolve(import.meta.dirname, '../../cli/logweir.mjs');

/** What a tool answered: the whole text, what stands in its fence, and what stands outside of it. */
export type ToolText = { readonly text: string; readonly isError: boolean; readonly inner: string; readonly outer: string };

/** The SDK's client over streamable HTTP. */
export async function httpClient(app: string, key: string): Promise<Client> {
  const client = new Client({ name: 'logweir-test', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${app}/mcp`), { requestInit }));
  return client;
}

/** The SDK's client of `logweir mcp`, which it starts and ends. */
export async function stdioClient(env: NodeJS.ProcessEnv, args: readonly string[] = []): Promise<Client> {
  const client = new Client({ name: 'logweir-test', version: '1.0.0' });
  const own = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [CLI, 'mcp', ...args], env: own, stderr: 'ignore' }));
  return client;
}

/** Calls a tool, and takes its answer apart. */
export async function call(client: Client, name: string, given: Readonly<Record<string, unknown>> = {}): Promise<ToolText> {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  const [first] = content as readonly { readonly text: string }[];
  const text = first?.text ?? '';
  return { text, isError: isError === true, ...apart(text) };
}

/** What is inside of the marked data, by the mark that its first line has, and what is not. Throws where the fence is not whole. */
export function apart(text: string): { readonly inner: string; readonly outer: string } {
  const begin = /<untrusted-data ([0-9a-f]{24})>\n/.exec(text);
  if (begin?.[1] === undefined) throw new Error(`No fence: ${text.slice(0, 500)}`);
  const end = `\n</untrusted-data ${begin[1]}>`;
  const [from, to] = [begin.index + begin[0].length, text.indexOf(end)];
  if (to < 0 || text.includes(end, to + 1)) throw new Error(`The fence is not whole: ${text.slice(0, 500)}`);
  return { inner: text.slice(from, to), outer: text.slice(0, begin.index) + text.slice(to + end.length) };
}

/** The JSON in the marked data of a whole answer. */
export const dataOf = ({ inner }: ToolText): unknown => JSON.parse(inner);

/** What sends a first entry, by several ways. */
export type Snippet = { readonly id: string; readonly name: string; readonly lines: readonly string[] };

/** `{URL}` and `{KEY}` are filled in. */
export const SNIPPETS: readonly Snippet[] = [
  {
    id: 'curl',
    name: 'curl',
    lines: [
      `curl {URL}/api/v1/ingest \\`,
      `  -H "Authorization: Bearer {KEY}" -H "Content-Type: application/json" \\`,
      `  -d '{"service":"web","level":"info","message":"my first log"}'`,
    ],
  },
  {
    id: 'python',
    name: 'Python',
    lines: [
      'import json, urllib.request',
      '',
      `urllib.request.urlopen(urllib.request.Request('{URL}/api/v1/ingest', method='POST',`,
      `    headers={'Authorization': 'Bearer {KEY}', 'Content-Type': 'application/json'},`,
      `    data=json.dumps({'service': 'web', 'level': 'info', 'message': 'my first log'}).encode()))`,
    ],
  },
  {
    id: 'vector',
    name: 'Vector',
    lines: [
      '[sources.app]',
      'type = "file"',
      'include = ["/var/log/*.log"]',
      '',
      '[sinks.logweir]',
      'type = "elasticsearch"',
      'inputs = ["app"]',
      'endpoints = ["{URL}/insert/elasticsearch"]',
      'api_version = "v8"',
      'request.headers.Authorization = "Bearer {KEY}"',
    ],
  },
  {
    id: 'otel',
    name: 'OpenTelemetry',
    lines: ['exporters:', '  otlphttp:', '    logs_endpoint: {URL}/v1/logs', '    headers:', '      Authorization: "Bearer {KEY}"'],
  },
  {
    id: 'node',
    name: 'Node',
    lines: [
      `await fetch('{URL}/api/v1/ingest', {`,
      `  method: 'POST',`,
      `  headers: { Authorization: 'Bearer {KEY}', 'Content-Type': 'application/json' },`,
      `  body: JSON.stringify({ service: 'web', level: 'info', message: 'my first log' }),`,
      `});`,
    ],
  },
];

/** The snippet with an address and a key in it. */
export const snippetOf = ({ lines }: Snippet, url: string, key: string): string =>
  lines.map((line) => line.replaceAll('{URL}', () => url).replaceAll('{KEY}', () => key)).join('\n');

/** A key that nothing can be done with: how it begins. */
export const masked = (key: string): string => `${key.slice(0, 5)}${'•'.repeat(12)}`;

/** Statuses that are described, and that no end-to-end test has of each operation, with the reason. */
export type Unseen = {
  readonly statuses: readonly number[];
  /** Of these operations; of all without it. */
  readonly operations?: RegExp;
  readonly why: string;
};

export const UNSEEN: readonly Unseen[] = [
  {
    statuses: [101],
    why: 'No HTTP client of the tests opens WebSockets: test/e2e/instance/live.e2e.test.ts and long/projects.e2e.test.ts do.',
  },
  {
    statuses: [400, 429],
    operations: /^open(?:Tail|Alerts)$/,
    why: 'A handshake is refused, which no HTTP client of the tests sends: test/api/live/sockets.test.ts, test/api/limits/live-tails.test.ts.',
  },
  {
    statuses: [500],
    why: 'A fault of the service: there is no known way to it. test/api/http/every-error.test.ts has its form in each style.',
  },
  {
    statuses: [429],
    operations: /^(?:callMcp|getCredits)$/,
    why: 'No rate counts it: of /mcp the endpoints behind the tools do, whose errors are in a 200 (test/e2e/instance/mcp.e2e.test.ts).',
  },
  {
    statuses: [429],
    operations: /^signOut$/,
    why: 'A session whose tenant has used up its changes has to sign out: test/api/account/sessions.test.ts.',
  },
  {
    statuses: [409],
    why: 'Other nodes changed the same at once, or there are as many as there may be: test/api/control and test/api/account, with several nodes.',
  },
  {
    statuses: [422],
    operations: /^prom(?:LabelValues|Labels|Exemplars|Series)/,
    why: 'More series than an evaluation may have: api/prometheus/judged.ts makes it, as it makes those of promQuery, which tests have seen.',
  },
  { statuses: [400], operations: /^getHealth$/, why: 'The HTTP server itself answers it: test/api/http/http-server.test.ts.' },
  {
    statuses: [202],
    operations: /^(?:retryDelivery|deleteSession|sendV1RumReplay)$/,
    why: 'A delivery has to fail, or a session to be recorded, first: test/api/alerts/webhook-routes.test.ts, test/e2e/instance/replay.e2e.test.ts.',
  },
  {
    statuses: [200],
    operations: /^(?:listSessionTraces|getIncident|testWebhook)$/,
    why: 'A session with traces, or alerts that fired together, has to be there: test/e2e/store/replay-read.e2e.test.ts, alerts-query.e2e.test.ts.',
  },
  {
    statuses: [200, 201, 204, 404, 413],
    operations: /^(?:getWebhook|changeWebhook|deleteWebhook)$/,
    why: 'An instance takes no webhook of a private network, and tests have no other: test/api/alerts/webhook-routes.test.ts.',
  },
  { statuses: [408], why: 'The HTTP server itself answers it, before any operation: test/api/http/http-server.test.ts.' },
  {
    statuses: [503],
    why: 'A service that starts, stops or is overloaded: test/e2e/failures, and test/api/http/every-error.test.ts for each style.',
  },
  {
    statuses: [504],
    why: 'A query that takes too long or too much memory: test/e2e/store/reader-limits.e2e.test.ts has it of the engine that all use.',
  },
];

// Written by `npm run docs` from docs/openapi.json; not to be edited.
/* eslint-disable */

/** What each operation takes and answers, by its method and path. */
export interface Operations {
  /** What the key of the request may do */
  "GET /api/v1/account/key": {
    path: {};
    query: {};
    body: undefined;
    answer: { tenant_id: number; key_id: string; scopes: ("read" | "write" | "ingest")[]; demo: boolean; features: { metrics: boolean; replay: boolean; projects: number; ai: boolean }; bounds: { retention_days: number | null; queries_per_minute: number | null; entries_per_second: number | null; daily_bytes: number | null }; project: { id: string; name: string } | null; session: { started_at: string; expires_at: string } | null; refused: { what: string; status: number; why: string }[]; plan: { name: string; retention_days: number | null; queries_per_minute: number | null; entries_per_second: number | null; daily_bytes: number | null; features: { metrics: boolean; replay: boolean; projects: number; ai: boolean } } };
  };
  /** The projects of a tenant, oldest first */
  "GET /api/v1/account/projects": {
    path: {};
    query: { limit?: number; offset?: number; sort?: "name" | "created_at" | "updated_at"; order?: "asc" | "desc"; filter?: string };
    body: undefined;
    answer: { items: { id: string; name: string; filter: string; labels: { [name: string]: unknown }; created_at: string; updated_at: string }[]; total: number; limit: number; offset: number; has_more: boolean };
  };
  /** Creates a project */
  "POST /api/v1/account/projects": {
    path: {};
    query: {};
    body: { name: string; filter?: string; labels?: { [name: string]: unknown } };
    answer: { id: string; name: string; filter: string; labels: { [name: string]: unknown }; created_at: string; updated_at: string };
  };
  /** One project */
  "GET /api/v1/account/projects/{project_id}": {
    path: { project_id: string };
    query: {};
    body: undefined;
    answer: { id: string; name: string; filter: string; labels: { [name: string]: unknown }; created_at: string; updated_at: string };
  };
  /** Renames a project, or changes what it has */
  "PUT /api/v1/account/projects/{project_id}": {
    path: { project_id: string };
    query: {};
    body: { name?: string; filter?: string; labels?: { [name: string]: unknown } };
    answer: { id: string; name: string; filter: string; labels: { [name: string]: unknown }; created_at: string; updated_at: string };
  };
  /** Deletes a project: its keys are refused, its entries stay */
  "DELETE /api/v1/account/projects/{project_id}": {
    path: { project_id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Playbooks: what the team does about alerts of a kind, oldest first */
  "GET /api/v1/ai/playbooks": {
    path: {};
    query: { limit?: number; offset?: number; sort?: "name" | "created_at"; order?: "asc" | "desc"; filter?: string };
    body: undefined;
    answer: { items: { id: string; name: string; selector: { services: string[]; detectors: string[]; rules: string[]; pattern: string }; is_drafted: boolean; owner: string; created_at: string; characters: number }[]; total: number; limit: number; offset: number; has_more: boolean };
  };
  /** Imports a playbook for alerts of a kind */
  "POST /api/v1/ai/playbooks": {
    path: {};
    query: {};
    body: { name: string; text: string; selector?: { services?: string[]; detectors?: string[]; rules?: string[]; pattern?: string } };
    answer: { id: string; name: string; selector: { services: string[]; detectors: string[]; rules: string[]; pattern: string }; is_drafted: boolean; owner: string; created_at: string; text: string; model?: string; sent?: ({ role: "system" | "user" | "assistant"; content: string })[]; masked?: number };
  };
  /** One playbook, with its text */
  "GET /api/v1/ai/playbooks/{playbook_id}": {
    path: { playbook_id: string };
    query: {};
    body: undefined;
    answer: { id: string; name: string; selector: { services: string[]; detectors: string[]; rules: string[]; pattern: string }; is_drafted: boolean; owner: string; created_at: string; text: string };
  };
  /** Deletes a playbook */
  "DELETE /api/v1/ai/playbooks/{playbook_id}": {
    path: { playbook_id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Signs a browser in */
  "POST /api/v1/session": {
    path: {};
    query: {};
    body: { key?: string; code?: string } | undefined;
    answer: { tenant_id: number; key_id: string; scopes: ("read" | "write" | "ingest")[]; demo: boolean; features: { metrics: boolean; replay: boolean; projects: number; ai: boolean }; bounds: { retention_days: number | null; queries_per_minute: number | null; entries_per_second: number | null; daily_bytes: number | null }; project: { id: string; name: string } | null; session: { started_at: string; expires_at: string } | null; refused: { what: string; status: number; why: string }[]; plan: string };
  };
  /** Who sends this request, and what is not allowed */
  "GET /api/v1/session": {
    path: {};
    query: {};
    body: undefined;
    answer: { tenant_id: number; key_id: string; scopes: ("read" | "write" | "ingest")[]; demo: boolean; features: { metrics: boolean; replay: boolean; projects: number; ai: boolean }; bounds: { retention_days: number | null; queries_per_minute: number | null; entries_per_second: number | null; daily_bytes: number | null }; project: { id: string; name: string } | null; session: { started_at: string; expires_at: string } | null; refused: { what: string; status: number; why: string }[]; plan: string };
  };
  /** Signs a browser out */
  "DELETE /api/v1/session": {
    path: {};
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** AI credits of today, which reset at 00:00 UTC */
  "GET /api/v1/tenants/{tenant_id}/ai/credits": {
    path: { tenant_id: number };
    query: {};
    body: undefined;
    answer: { total: { used: number; limit: number | null }; features: { [name: string]: unknown }; is_configured: boolean };
  };
  /** A model explains an alert, an incident, a pattern or entries */
  "POST /api/v1/tenants/{tenant_id}/ai/explain": {
    path: { tenant_id: number };
    query: {};
    body: { alert_id?: number; incident_id?: number; fingerprint?: string; query?: string; start?: string; end?: string; question?: string; deep?: boolean; stream?: boolean };
    answer: { answer: string; ended: "complete" | "cut"; model: string; sent: ({ role: "system" | "user" | "assistant"; content: string })[]; masked: number; playbooks: { id: string; name: string }[] };
  };
  /** A model turns a question into LogsQL, which is checked */
  "POST /api/v1/tenants/{tenant_id}/ai/query": {
    path: { tenant_id: number };
    query: {};
    body: { question: string; start?: string; end?: string };
    answer: { query: string; start: string; end: string; rounds: number; explain: { [name: string]: unknown }; model: string; sent: ({ role: "system" | "user" | "assistant"; content: string })[]; masked: number };
  };
  /** What detectors have found, newest first */
  "GET /api/v1/tenants/{tenant_id}/alerts": {
    path: { tenant_id: number };
    query: { state?: "firing" | "resolved" | "all"; severity?: "info" | "warning" | "critical" | "all"; detector_type?: string; service?: string; since?: string | number; until?: string | number; limit?: number; offset?: number };
    body: undefined;
    answer: { items: ({ id: number; detector_type: string; stream: string; severity: "info" | "warning" | "critical"; title: string; description: string; evidence: { [name: string]: unknown }; state: "firing" | "resolved"; fired_at: string; fire_count: number; resolved_at: string | null; last_updated_at: string; resolution_note: string | null; incident_id: number | null })[]; total: number; limit: number; offset: number; has_more: boolean; hints?: string[] };
  };
  /** One alert */
  "GET /api/v1/tenants/{tenant_id}/alerts/{alert_id}": {
    path: { tenant_id: number; alert_id: number };
    query: {};
    body: undefined;
    answer: { id: number; detector_type: string; stream: string; severity: "info" | "warning" | "critical"; title: string; description: string; evidence: { [name: string]: unknown }; state: "firing" | "resolved"; fired_at: string; fire_count: number; resolved_at: string | null; last_updated_at: string; resolution_note: string | null; incident_id: number | null; playbooks?: { id: string; name: string }[] };
  };
  /** Resolves an alert, with a note */
  "POST /api/v1/tenants/{tenant_id}/alerts/{alert_id}/resolve": {
    path: { tenant_id: number; alert_id: number };
    query: {};
    body: { note?: string | null } | undefined;
    answer: { id: number; detector_type: string; stream: string; severity: "info" | "warning" | "critical"; title: string; description: string; evidence: { [name: string]: unknown }; state: "firing" | "resolved"; fired_at: string; fire_count: number; resolved_at: string | null; last_updated_at: string; resolution_note: string | null; incident_id: number | null };
  };
  /** The detectors, and how easily they fire */
  "GET /api/v1/tenants/{tenant_id}/detectors": {
    path: { tenant_id: number };
    query: {};
    body: undefined;
    answer: { detectors: { name: string; description: string }[]; rules: ({ detector?: string; stream?: string; sensitivity: "off" | "low" | "normal" | "high" })[]; defaults: ({ detector?: string; stream?: string; sensitivity: "off" | "low" | "normal" | "high" })[] };
  };
  /** Sets how easily detectors fire: all rules of the tenant at once */
  "PUT /api/v1/tenants/{tenant_id}/detectors": {
    path: { tenant_id: number };
    query: {};
    body: { rules: ({ detector?: string; stream?: string; sensitivity: "off" | "low" | "normal" | "high" })[] };
    answer: { detectors: { name: string; description: string }[]; rules: ({ detector?: string; stream?: string; sensitivity: "off" | "low" | "normal" | "high" })[]; defaults: ({ detector?: string; stream?: string; sensitivity: "off" | "low" | "normal" | "high" })[] };
  };
  /** What a detector would have fired in the last 24 hours with each sensitivity, by what is stored; nothing is set */
  "POST /api/v1/tenants/{tenant_id}/detectors/preview": {
    path: { tenant_id: number };
    query: {};
    body: { detector: string; query?: string };
    answer: { window: { start: string; end: string }; fired: { low: number; normal: number; high: number }; has_more_streams: boolean; series: ({ stream: string; alerts: { low: ({ fired_at: string; resolved_at: string | null; side: "up" | "down"; value: number | null; expected: { low: number | null; high: number | null }; fire_count: number })[]; normal: ({ fired_at: string; resolved_at: string | null; side: "up" | "down"; value: number | null; expected: { low: number | null; high: number | null }; fire_count: number })[]; high: ({ fired_at: string; resolved_at: string | null; side: "up" | "down"; value: number | null; expected: { low: number | null; high: number | null }; fire_count: number })[] } })[] };
  };
  /** The most frequent values of each field */
  "GET /api/v1/tenants/{tenant_id}/facets": {
    path: { tenant_id: number };
    query: { query?: string; start?: string | number; end?: string | number; limit?: number };
    body: undefined;
    answer: { facets: { [name: string]: unknown }; truncated_fields: number; window: { start: string; end: string }; hints?: string[] };
  };
  /** How many entries match, in buckets of time */
  "GET /api/v1/tenants/{tenant_id}/hits": {
    path: { tenant_id: number };
    query: { query?: string; start?: string | number; end?: string | number; step?: "1m" | "5m" | "15m" | "1h" | "6h" | "1d"; fields_by?: string[] };
    body: undefined;
    answer: { hits: { time: string; hits: number; stream?: string }[]; window: { start: string; end: string }; hints?: string[] };
  };
  /** Alerts of a service that fired together, newest first */
  "GET /api/v1/tenants/{tenant_id}/incidents": {
    path: { tenant_id: number };
    query: { state?: "firing" | "resolved" | "all"; service?: string; since?: string | number; until?: string | number; limit?: number; offset?: number };
    body: undefined;
    answer: { items: ({ id: number; service: string; state: "firing" | "resolved"; severity: "info" | "warning" | "critical"; started_at: string; ended_at: string | null; last_updated_at: string; alert_count: number; alerts: ({ id: number; detector_type: string; stream: string; severity: "info" | "warning" | "critical"; title: string; description: string; evidence: { [name: string]: unknown }; state: "firing" | "resolved"; fired_at: string; fire_count: number; resolved_at: string | null; last_updated_at: string; resolution_note: string | null; incident_id: number | null })[] })[]; total: number; limit: number; offset: number; has_more: boolean; hints?: string[] };
  };
  /** One incident */
  "GET /api/v1/tenants/{tenant_id}/incidents/{incident_id}": {
    path: { tenant_id: number; incident_id: number };
    query: {};
    body: undefined;
    answer: { id: number; service: string; state: "firing" | "resolved"; severity: "info" | "warning" | "critical"; started_at: string; ended_at: string | null; last_updated_at: string; alert_count: number; alerts: ({ id: number; detector_type: string; stream: string; severity: "info" | "warning" | "critical"; title: string; description: string; evidence: { [name: string]: unknown }; state: "firing" | "resolved"; fired_at: string; fire_count: number; resolved_at: string | null; last_updated_at: string; resolution_note: string | null; incident_id: number | null })[] };
  };
  /** The keys of a tenant that are not revoked, oldest first */
  "GET /api/v1/tenants/{tenant_id}/keys": {
    path: { tenant_id: number };
    query: { limit?: number; offset?: number; sort?: "name" | "created_at" | "expires_at" | "last_used"; order?: "asc" | "desc"; filter?: string };
    body: undefined;
    answer: { items: ({ id: string; name: string | null; scopes: ("read" | "write" | "ingest")[]; project_id: string | null; created_at: string; expires_at: string | null; last_used: string | null; is_own: boolean })[]; total: number; limit: number; offset: number; has_more: boolean };
  };
  /** Issues a key, which is shown this once */
  "POST /api/v1/tenants/{tenant_id}/keys": {
    path: { tenant_id: number };
    query: {};
    body: { name?: string; scopes?: ("read" | "write" | "ingest")[]; expires?: string | null; project?: string };
    answer: { id: string; name: string | null; scopes: ("read" | "write" | "ingest")[]; project_id: string | null; created_at: string; expires_at: string | null; last_used: string | null; is_own: boolean; key: string };
  };
  /** Revokes a key */
  "DELETE /api/v1/tenants/{tenant_id}/keys/{key_id}": {
    path: { tenant_id: number; key_id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Numbers that processors have found */
  "GET /api/v1/tenants/{tenant_id}/measures": {
    path: { tenant_id: number };
    query: { name?: string; service?: string; label?: string[]; start?: string | number; end?: string | number };
    body: undefined;
    answer: { measures: { name: string; labels: { [name: string]: unknown }; span: number; points: unknown[][] }[]; window: { start: string; end: string }; hints?: string[] };
  };
  /** The rule over metricss of a tenant, oldest first */
  "GET /api/v1/tenants/{tenant_id}/metric-rules": {
    path: { tenant_id: number };
    query: { limit?: number; offset?: number; sort?: "name" | "created_at" | "severity"; order?: "asc" | "desc"; filter?: string };
    body: undefined;
    answer: { items: { id: string; created_at: string; expr: string }[]; total: number; limit: number; offset: number; has_more: boolean; most: number };
  };
  /** Creates a rule over metrics */
  "POST /api/v1/tenants/{tenant_id}/metric-rules": {
    path: { tenant_id: number };
    query: {};
    body: { group?: string; alert?: string; record?: string; watch?: string; expr: string; interval?: string; for?: string; keep_firing_for?: string; direction?: string; sensitivity?: string; labels?: { [name: string]: unknown }; annotations?: { [name: string]: unknown } };
    answer: { id: string; created_at: string; expr: string };
  };
  /** What a rule over metrics that watches would have fired in the last 24 hours, by what is stored; nothing is saved */
  "POST /api/v1/tenants/{tenant_id}/metric-rules/preview": {
    path: { tenant_id: number };
    query: {};
    body: { group?: string; alert?: string; record?: string; watch?: string; expr: string; interval?: string; for?: string; keep_firing_for?: string; direction?: string; sensitivity?: string; labels?: { [name: string]: unknown }; annotations?: { [name: string]: unknown } };
    answer: { window: { start: string; end: string }; every: string; fired: number; has_more_series: boolean; series: ({ labels: { [name: string]: unknown }; values: (number | null)[]; alerts: ({ fired_at: string; resolved_at: string | null; side: "up" | "down"; value: number | null; expected: { low: number | null; high: number | null }; fire_count: number })[] })[] };
  };
  /** One rule over metrics */
  "GET /api/v1/tenants/{tenant_id}/metric-rules/{rule_id}": {
    path: { tenant_id: number; rule_id: string };
    query: {};
    body: undefined;
    answer: { id: string; created_at: string; expr: string };
  };
  /** Sets all members of a rule over metrics */
  "PUT /api/v1/tenants/{tenant_id}/metric-rules/{rule_id}": {
    path: { tenant_id: number; rule_id: string };
    query: {};
    body: { group?: string; alert?: string; record?: string; watch?: string; expr: string; interval?: string; for?: string; keep_firing_for?: string; direction?: string; sensitivity?: string; labels?: { [name: string]: unknown }; annotations?: { [name: string]: unknown } };
    answer: { id: string; created_at: string; expr: string };
  };
  /** Deletes a rule over metrics */
  "DELETE /api/v1/tenants/{tenant_id}/metric-rules/{rule_id}": {
    path: { tenant_id: number; rule_id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** How many series are active today, and how many may be */
  "GET /api/v1/tenants/{tenant_id}/metrics/cardinality": {
    path: { tenant_id: number };
    query: {};
    body: undefined;
    answer: { day: string; active_series: number; limit: number | null; metrics: { metric: string; series: number }[]; labels: { label: string; values: number }[]; hints?: string[] };
  };
  /** Message templates of a window */
  "GET /api/v1/tenants/{tenant_id}/patterns": {
    path: { tenant_id: number };
    query: { sort?: "count" | "first_seen" | "last_seen"; order?: "asc" | "desc"; since?: string | number; search?: string; service?: string; limit?: number; offset?: number };
    body: undefined;
    answer: { patterns: ({ fingerprint: string; normalized_message: string; first_seen: string; last_seen: string | null; count: number; streams: string[]; example_raw_message?: string; level?: string; trend?: number[]; is_new?: boolean; aliases?: string[] })[]; has_more: boolean; window: { start: string; end: string }; hints?: string[] };
  };
  /** Which patterns are new, gone or changed from one window to another */
  "GET /api/v1/tenants/{tenant_id}/patterns/diff": {
    path: { tenant_id: number };
    query: { a?: string; b?: string; service?: string; limit?: number };
    body: undefined;
    answer: { new: { fingerprint: string; normalized_message: string; a: number; b: number; expected: number }[]; gone: { fingerprint: string; normalized_message: string; a: number; b: number; expected: number }[]; changed: { fingerprint: string; normalized_message: string; a: number; b: number; expected: number }[]; a: { start: string; end: string }; b: { start: string; end: string }; hints?: string[] };
  };
  /** A pattern, with its history and the values of its placeholders */
  "GET /api/v1/tenants/{tenant_id}/patterns/{fingerprint}": {
    path: { tenant_id: number; fingerprint: string };
    query: { since?: string | number };
    body: undefined;
    answer: { pattern: { fingerprint: string; normalized_message: string; first_seen: string; last_seen: string | null; count: number; streams: string[]; example_raw_message?: string; level?: string; trend?: number[]; is_new?: boolean; aliases?: string[] }; history: { [name: string]: unknown }[]; placeholders: { placeholder: string; position: number; values: { value: string; hits: number }[]; others?: number }[]; sampled: number; first_example: string | null; last_example: string | null; window: { start: string; end: string }; hints?: string[] };
  };
  /** What of the tenant was refused last, newest first */
  "GET /api/v1/tenants/{tenant_id}/rejections": {
    path: { tenant_id: number };
    query: {};
    body: undefined;
    answer: { rejections: ({ time: string; format: string; request_id: string; path: string; client: string; reason: string; sample: string; status: number; index?: number | null; count?: number })[] };
  };
  /** Sessions of a window, by LogsQL over their fields */
  "GET /api/v1/tenants/{tenant_id}/replay/sessions": {
    path: { tenant_id: number };
    query: { query?: string; user?: string; url?: string; service?: string; min_length?: string; errors?: "true" | "false"; start?: string | number; end?: string | number; before?: string | number; limit?: number };
    body: undefined;
    answer: { sessions: { [name: string]: unknown }[]; hints?: string[] };
  };
  /** What is known of a session */
  "GET /api/v1/tenants/{tenant_id}/replay/sessions/{session}": {
    path: { tenant_id: number; session: string };
    query: {};
    body: undefined;
    answer: { [name: string]: unknown };
  };
  /** Deletes a session */
  "DELETE /api/v1/tenants/{tenant_id}/replay/sessions/{session}": {
    path: { tenant_id: number; session: string };
    query: {};
    body: undefined;
    answer: { status: "ok"; session_id: string };
  };
  /** rrweb's events of a session, as JSON lines */
  "GET /api/v1/tenants/{tenant_id}/replay/sessions/{session}/events": {
    path: { tenant_id: number; session: string };
    query: { from?: string | number; to?: string | number };
    body: undefined;
    answer: string;
  };
  /** The entries of a session */
  "GET /api/v1/tenants/{tenant_id}/replay/sessions/{session}/logs": {
    path: { tenant_id: number; session: string };
    query: { limit?: number; before?: string | number };
    body: undefined;
    answer: { logs: { _time?: string; _stream?: string; _msg?: string; level?: string; _fingerprint?: string; _first_seen?: string; _occurrences?: number }[]; count: number; elapsed_ms: number; has_more: boolean; oldest_time: string | null; window: { start: string; end: string }; hints?: string[]; truncated?: boolean } | { explain: { [name: string]: unknown }; hints?: string[] };
  };
  /** The traces of a session */
  "GET /api/v1/tenants/{tenant_id}/replay/sessions/{session}/traces": {
    path: { tenant_id: number; session: string };
    query: { limit?: number };
    body: undefined;
    answer: { traces: { [name: string]: unknown }[]; hints?: string[] };
  };
  /** The rules of a tenant, oldest first */
  "GET /api/v1/tenants/{tenant_id}/rules": {
    path: { tenant_id: number };
    query: { limit?: number; offset?: number; sort?: "name" | "created_at" | "severity"; order?: "asc" | "desc"; filter?: string };
    body: undefined;
    answer: { items: ({ id: string; created_at: string; name: string; query: string; signal?: string; every?: string; if?: string; record?: string; for?: number; severity?: string; sensitivity?: string; detector?: { name: string; state: "on" | "off" | "missing"; since: string | null; reason: string | null } })[]; total: number; limit: number; offset: number; has_more: boolean; most: number };
  };
  /** Creates a rule */
  "POST /api/v1/tenants/{tenant_id}/rules": {
    path: { tenant_id: number };
    query: {};
    body: { name?: string; signal?: string; query: string; every?: string; if?: string; record?: string; for?: number; severity?: string; sensitivity?: string; by?: string[] };
    answer: { id: string; created_at: string; name: string; query: string; signal?: string; every?: string; if?: string; record?: string; for?: number; severity?: string; sensitivity?: string; detector?: { name: string; state: "on" | "off" | "missing"; since: string | null; reason: string | null } };
  };
  /** What a rule would have fired in the last 24 hours, by what is stored; nothing is saved */
  "POST /api/v1/tenants/{tenant_id}/rules/preview": {
    path: { tenant_id: number };
    query: {};
    body: { name?: string; signal?: string; query: string; every?: string; if?: string; record?: string; for?: number; severity?: string; sensitivity?: string; by?: string[] };
    answer: { window: { start: string; end: string }; every: string; fired: number; has_more_groups: boolean; series: ({ labels: { [name: string]: unknown }; values: (number | null)[]; alerts: ({ fired_at: string; resolved_at: string | null; side: "up" | "down"; value: number | null; expected: { low: number | null; high: number | null }; fire_count: number })[] })[] };
  };
  /** One rule */
  "GET /api/v1/tenants/{tenant_id}/rules/{rule_id}": {
    path: { tenant_id: number; rule_id: string };
    query: {};
    body: undefined;
    answer: { id: string; created_at: string; name: string; query: string; signal?: string; every?: string; if?: string; record?: string; for?: number; severity?: string; sensitivity?: string; detector?: { name: string; state: "on" | "off" | "missing"; since: string | null; reason: string | null } };
  };
  /** Sets all members of a rule */
  "PUT /api/v1/tenants/{tenant_id}/rules/{rule_id}": {
    path: { tenant_id: number; rule_id: string };
    query: {};
    body: { name?: string; signal?: string; query: string; every?: string; if?: string; record?: string; for?: number; severity?: string; sensitivity?: string; by?: string[] };
    answer: { id: string; created_at: string; name: string; query: string; signal?: string; every?: string; if?: string; record?: string; for?: number; severity?: string; sensitivity?: string; detector?: { name: string; state: "on" | "off" | "missing"; since: string | null; reason: string | null } };
  };
  /** Deletes a rule */
  "DELETE /api/v1/tenants/{tenant_id}/rules/{rule_id}": {
    path: { tenant_id: number; rule_id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Saved searches: the own ones and shared ones, oldest first */
  "GET /api/v1/tenants/{tenant_id}/saved-searches": {
    path: { tenant_id: number };
    query: { limit?: number; offset?: number; sort?: "name" | "created_at" | "updated_at"; order?: "asc" | "desc"; filter?: string };
    body: undefined;
    answer: { items: ({ id: string; name: string; query: string; start: string | null; end: string | null; columns: string[]; shared: boolean; owner: string; is_own: boolean; created_at: string; updated_at: string })[]; total: number; limit: number; offset: number; has_more: boolean };
  };
  /** Saves a search */
  "POST /api/v1/tenants/{tenant_id}/saved-searches": {
    path: { tenant_id: number };
    query: {};
    body: { name: string; query: string; start?: string | null; end?: string | null; columns?: string[]; shared?: boolean };
    answer: { id: string; name: string; query: string; start: string | null; end: string | null; columns: string[]; shared: boolean; owner: string; is_own: boolean; created_at: string; updated_at: string };
  };
  /** One saved search */
  "GET /api/v1/tenants/{tenant_id}/saved-searches/{search_id}": {
    path: { tenant_id: number; search_id: string };
    query: {};
    body: undefined;
    answer: { id: string; name: string; query: string; start: string | null; end: string | null; columns: string[]; shared: boolean; owner: string; is_own: boolean; created_at: string; updated_at: string };
  };
  /** Sets all members of a saved search */
  "PUT /api/v1/tenants/{tenant_id}/saved-searches/{search_id}": {
    path: { tenant_id: number; search_id: string };
    query: {};
    body: { name: string; query: string; start?: string | null; end?: string | null; columns?: string[]; shared?: boolean };
    answer: { id: string; name: string; query: string; start: string | null; end: string | null; columns: string[]; shared: boolean; owner: string; is_own: boolean; created_at: string; updated_at: string };
  };
  /** Deletes a saved search */
  "DELETE /api/v1/tenants/{tenant_id}/saved-searches/{search_id}": {
    path: { tenant_id: number; search_id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Entries that a query matches, newest first */
  "POST /api/v1/tenants/{tenant_id}/search": {
    path: { tenant_id: number };
    query: { explain?: boolean; enrich?: boolean };
    body: { query: string; start?: string | number; end?: string | number; limit?: number; before?: null | string | number };
    answer: { logs: { _time?: string; _stream?: string; _msg?: string; level?: string; _fingerprint?: string; _first_seen?: string; _occurrences?: number }[]; count: number; elapsed_ms: number; has_more: boolean; oldest_time: string | null; window: { start: string; end: string }; hints?: string[]; truncated?: boolean } | { explain: { [name: string]: unknown }; hints?: string[] };
  };
  /** Calls between services */
  "GET /api/v1/tenants/{tenant_id}/service-map": {
    path: { tenant_id: number };
    query: { start?: string | number; end?: string | number };
    body: undefined;
    answer: { edges: { caller: string; callee: string; calls: number; errors: number }[]; window: { start: string; end: string }; hints?: string[] };
  };
  /** Services that have sent spans */
  "GET /api/v1/tenants/{tenant_id}/services": {
    path: { tenant_id: number };
    query: { start?: string | number; end?: string | number };
    body: undefined;
    answer: { services: string[]; has_more: boolean; window: { start: string; end: string }; hints?: string[] };
  };
  /** Operations of a service */
  "GET /api/v1/tenants/{tenant_id}/services/{service}/operations": {
    path: { tenant_id: number; service: string };
    query: { start?: string | number; end?: string | number };
    body: undefined;
    answer: { operations: unknown[]; has_more: boolean; window: { start: string; end: string }; hints?: string[] };
  };
  /** The most frequent values of each field of spans */
  "GET /api/v1/tenants/{tenant_id}/spans/facets": {
    path: { tenant_id: number };
    query: { query?: string; start?: string | number; end?: string | number; limit?: number };
    body: undefined;
    answer: { facets: { [name: string]: unknown }; truncated_fields: number; window: { start: string; end: string }; hints?: string[] };
  };
  /** How many spans match, in buckets of time */
  "GET /api/v1/tenants/{tenant_id}/spans/hits": {
    path: { tenant_id: number };
    query: { query?: string; start?: string | number; end?: string | number; step?: "1m" | "5m" | "15m" | "1h" | "6h" | "1d"; fields_by?: string[] };
    body: undefined;
    answer: { hits: { time: string; hits: number; stream?: string }[]; window: { start: string; end: string }; hints?: string[] };
  };
  /** Spans that a query matches, newest first */
  "POST /api/v1/tenants/{tenant_id}/spans/search": {
    path: { tenant_id: number };
    query: { explain?: boolean };
    body: { query: string; start?: string | number; end?: string | number; limit?: number; before?: null | string | number };
    answer: { spans: { _time?: string; _stream?: string; _msg?: string; level?: string; _fingerprint?: string; _first_seen?: string; _occurrences?: number }[]; count: number; elapsed_ms: number; has_more: boolean; oldest_time: string | null; window: { start: string; end: string }; hints?: string[]; truncated?: boolean } | { explain: { [name: string]: unknown }; hints?: string[] };
  };
  /** The streams of a window, those with most entries first */
  "GET /api/v1/tenants/{tenant_id}/streams": {
    path: { tenant_id: number };
    query: { query?: string; start?: string | number; end?: string | number };
    body: undefined;
    answer: { streams: { id: string; hits: number }[]; window: { start: string; end: string }; hints?: string[] };
  };
  /** Entries as they come, as Server-Sent Events */
  "GET /api/v1/tenants/{tenant_id}/tail": {
    path: { tenant_id: number };
    query: { query?: string; since?: string; resume?: string };
    body: undefined;
    answer: string;
  };
  /** Traces with a span that matches, newest first */
  "GET /api/v1/tenants/{tenant_id}/traces": {
    path: { tenant_id: number };
    query: { service?: string; operation?: string; status?: "unset" | "ok" | "error"; kind?: "unspecified" | "internal" | "server" | "client" | "producer" | "consumer"; start?: string | number; end?: string | number; limit?: number; tag?: string[]; tags?: string[]; min_duration?: string; max_duration?: string; cursor?: string };
    body: undefined;
    answer: { traces: { trace_id: string; root_service: string; root_operation: string; has_root: boolean; start: string; duration: number; spans: number; errors: number; services: string[] }[]; next_cursor: string | null; window: { start: string; end: string }; hints?: string[] };
  };
  /** A trace, as OpenTelemetry's JSON */
  "GET /api/v1/tenants/{tenant_id}/traces/{trace_id}": {
    path: { tenant_id: number; trace_id: string };
    query: {};
    body: undefined;
    answer: { resourceSpans: { [name: string]: unknown }[]; hints?: string[] };
  };
  /** The entries of a trace */
  "GET /api/v1/tenants/{tenant_id}/traces/{trace_id}/logs": {
    path: { tenant_id: number; trace_id: string };
    query: { start?: string | number; end?: string | number; limit?: number; before?: string | number };
    body: undefined;
    answer: { logs: { _time?: string; _stream?: string; _msg?: string; level?: string; _fingerprint?: string; _first_seen?: string; _occurrences?: number }[]; count: number; elapsed_ms: number; has_more: boolean; oldest_time: string | null; window: { start: string; end: string }; hints?: string[]; truncated?: boolean } | { explain: { [name: string]: unknown }; hints?: string[] };
  };
  /** What the tenant uses: by day, signal, service and key; limits, refusals and costs */
  "GET /api/v1/tenants/{tenant_id}/usage": {
    path: { tenant_id: number };
    query: { day?: string | null };
    body: undefined;
    answer: { plan: string; paid: boolean; day: string; days: ({ day: string; bytes: number; pending_bytes: number; signals: { [name: string]: unknown }; included_bytes: number | null; ceiling_bytes: number | null; over_bytes: number; cost: number })[]; price: { per_gb_over: number | null; currency: string }; keys: ({ key_id: string; name: string | null; signal: string; bytes: number; entries: number; requests: number })[]; refused: { signal: string; status: number; error: string; requests: number; entries: number; last_at: string; reason: string }[]; limits: ({ name: string; unit: string; limit: number | null; used: number | null; clears_at: string | null; clears: string })[]; services: { service: string; entries: number }[] | null; hints?: string[] };
  };
  /** Deliveries that wait or have failed */
  "GET /api/v1/tenants/{tenant_id}/webhook-deliveries": {
    path: { tenant_id: number };
    query: { limit?: number; offset?: number; sort?: "created_at" | "attempts" | "alert_id"; order?: "asc" | "desc"; filter?: string; state?: "all" | "pending" | "failed" };
    body: undefined;
    answer: { items: ({ id: string; webhook_id: string; type: string; alert_id: number; title: string; state: "pending" | "failed"; attempts: number; created_at: string; status: number | null; error: string | null; failed_at?: string; next_attempt_at?: string })[]; total: number; limit: number; offset: number; has_more: boolean };
  };
  /** Sends a failed delivery again */
  "POST /api/v1/tenants/{tenant_id}/webhook-deliveries/{delivery_id}/retry": {
    path: { tenant_id: number; delivery_id: string };
    query: {};
    body: undefined;
    answer: { id: string; webhook_id: string; type: string; alert_id: number; title: string; state: "pending" | "failed"; attempts: number; created_at: string; status: number | null; error: string | null; failed_at?: string; next_attempt_at?: string };
  };
  /** The webhooks of a tenant, oldest first */
  "GET /api/v1/tenants/{tenant_id}/webhooks": {
    path: { tenant_id: number };
    query: { limit?: number; offset?: number; sort?: "url" | "created_at"; order?: "asc" | "desc"; filter?: string };
    body: undefined;
    answer: { items: ({ id: string; url: string; form: string; min_severity: "info" | "warning" | "critical"; detectors: string[]; services: string[]; enabled: boolean; created_at: string })[]; total: number; limit: number; offset: number; has_more: boolean };
  };
  /** Announces alerts at a URL */
  "POST /api/v1/tenants/{tenant_id}/webhooks": {
    path: { tenant_id: number };
    query: {};
    body: { url: string; form?: "json" | "slack"; min_severity?: "info" | "warning" | "critical"; detectors?: string[]; services?: string[]; enabled?: boolean };
    answer: { id: string; url: string; form: string; min_severity: "info" | "warning" | "critical"; detectors: string[]; services: string[]; enabled: boolean; created_at: string; secret: string };
  };
  /** One webhook */
  "GET /api/v1/tenants/{tenant_id}/webhooks/{webhook_id}": {
    path: { tenant_id: number; webhook_id: string };
    query: {};
    body: undefined;
    answer: { id: string; url: string; form: string; min_severity: "info" | "warning" | "critical"; detectors: string[]; services: string[]; enabled: boolean; created_at: string };
  };
  /** Sets all members of a webhook */
  "PUT /api/v1/tenants/{tenant_id}/webhooks/{webhook_id}": {
    path: { tenant_id: number; webhook_id: string };
    query: {};
    body: { url: string; form?: "json" | "slack"; min_severity?: "info" | "warning" | "critical"; detectors?: string[]; services?: string[]; enabled?: boolean };
    answer: { id: string; url: string; form: string; min_severity: "info" | "warning" | "critical"; detectors: string[]; services: string[]; enabled: boolean; created_at: string };
  };
  /** Deletes a webhook */
  "DELETE /api/v1/tenants/{tenant_id}/webhooks/{webhook_id}": {
    path: { tenant_id: number; webhook_id: string };
    query: {};
    body: undefined;
    answer: undefined;
  };
  /** Sends a test delivery; its outcome */
  "POST /api/v1/tenants/{tenant_id}/webhooks/{webhook_id}/test": {
    path: { tenant_id: number; webhook_id: string };
    query: {};
    body: undefined;
    answer: { delivered: boolean; status: number | null; error: string | null; duration_ms: number };
  };
  /** Whether this process runs */
  "GET /health": {
    path: {};
    query: {};
    body: undefined;
    answer: { status: "ok" };
  };
  /** One message of the Model Context Protocol (streamable HTTP, without sessions) */
  "POST /mcp": {
    path: {};
    query: {};
    body: { jsonrpc: "2.0"; method: string; id?: null | string | number; params?: { [name: string]: unknown } };
    answer: { jsonrpc: "2.0"; id: null | string | number; result: { [name: string]: unknown } } | { jsonrpc: "2.0"; error: { [name: string]: unknown }; id?: null | string | number } | undefined;
  };
  /** This description, as OpenAPI 3.1 */
  "GET /openapi.json": {
    path: {};
    query: {};
    body: undefined;
    answer: { [name: string]: unknown };
  };
  /** Entries as JSON lines, as they come */
  "GET /select/logsql/tail": {
    path: {};
    query: { query: string; start?: string; end?: string; timeout?: string; extra_filters?: string[]; extra_stream_filters?: string[]; start_offset?: string; offset?: string; refresh_interval?: string };
    body: undefined;
    answer: string;
  };
  /** Entries as JSON lines, as they come */
  "POST /select/logsql/tail": {
    path: {};
    query: {};
    body: { query: string; start?: string; end?: string; timeout?: string; extra_filters?: string[]; extra_stream_filters?: string[]; start_offset?: string; offset?: string; refresh_interval?: string } | undefined;
    answer: string;
  };
  /** Alerts as they change, over a WebSocket */
  "GET /ws/alerts/{tenant_id}": {
    path: { tenant_id: number };
    query: { updates?: boolean; since?: string };
    body: undefined;
    answer: never;
  };
  /** Entries as they come, over a WebSocket */
  "GET /ws/livetail/{tenant_id}": {
    path: { tenant_id: number };
    query: {};
    body: undefined;
    answer: never;
  };
}

/** Every bound that protects tenants from each other: docs/limits.md is made of it. */
import { ACCOUNTS } from './limits/accounts.ts';
import { AI } from './limits/ai.ts';
import { ALERTS } from './limits/alerts.ts';
import { BODIES } from './limits/bodies.ts';
import { CONNECTIONS } from './limits/connections.ts';
import { DOORS } from './limits/doors.ts';
import type { Section } from './limits/limit.ts';
import { LIVE } from './limits/live.ts';
import { LOG } from './limits/log.ts';
import { NOTIFICATIONS } from './limits/notifications.ts';
import { PATTERNS } from './limits/patterns.ts';
import { PROMQL } from './limits/promql.ts';
import { REPLAY } from './limits/replay.ts';
import { QUERIES } from './limits/queries.ts';
import { TRACES } from './limits/traces.ts';
import { RULES } from './limits/rules.ts';
import { SAMPLES } from './limits/samples.ts';
import { SPANS } from './limits/spans.ts';
import { STORAGE } from './limits/storage.ts';

export { NOT_OF_TENANTS } from './limits/not-of-tenants.ts';

/** All sections, in the order of the page. */
export const LIMITS: readonly Section[] = [
  CONNECTIONS,
  BODIES,
  DOORS,
  SPANS,
  SAMPLES,
  REPLAY,
  LOG,
  STORAGE,
  QUERIES,
  PROMQL,
  TRACES,
  LIVE,
  PATTERNS,
  ALERTS,
  RULES,
  NOTIFICATIONS,
  ACCOUNTS,
  AI,
];

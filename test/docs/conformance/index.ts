/** All that the contract says, in its order: docs/conformance.md is made of it. */
import { AUTHENTICATION } from './authentication.ts';
import { DECIDED_ALERTS } from './decided-alerts.ts';
import { DECIDED_ANSWERS } from './decided-answers.ts';
import { DECIDED_ENTRIES } from './decided-entries.ts';
import { ENDPOINTS } from './endpoints.ts';
import { ERRORS } from './errors.ts';
import { LIMITS } from './limits.ts';
import { RESOURCES } from './resources.ts';
import type { Section } from './row.ts';

export const SECTIONS: readonly Section[] = [
  ...[...RESOURCES, ...ENDPOINTS, ...AUTHENTICATION, ...ERRORS, ...LIMITS],
  ...[...DECIDED_ENTRIES, ...DECIDED_ANSWERS, ...DECIDED_ALERTS],
];

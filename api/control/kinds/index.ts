import type { RecordKind } from './kind.ts';
import { deletionKind } from './deletion.ts';
import { endedSessionsKind } from './ended-sessions.ts';
import { keyKind } from './key.ts';
import { playbookKind } from './playbook.ts';
import { projectKind } from './project.ts';
import { savedSearchKind } from './saved-search.ts';
import { settingKind } from './setting.ts';
import { shardsKind } from './shards.ts';
import { signInCodeKind } from './sign-in-code.ts';
import { tenantKind } from './tenant.ts';
import { webhookKind } from './webhook.ts';

/** Every kind of record of the control topic, one row each. docs/control.md is made from it. */
export const RECORD_KINDS = [
  tenantKind,
  keyKind,
  projectKind,
  savedSearchKind,
  playbookKind,
  settingKind,
  webhookKind,
  signInCodeKind,
  endedSessionsKind,
  deletionKind,
  shardsKind,
] as unknown as readonly RecordKind[];

const BY_NAME = new Map(RECORD_KINDS.map((kind) => [kind.name, kind]));

/** What a record of the topic is, by its key; undefined for what is none of these kinds. */
export function kindOf(key: string): RecordKind | undefined {
  const colon = key.indexOf(':');
  return colon < 0 ? undefined : BY_NAME.get(key.slice(0, colon));
}

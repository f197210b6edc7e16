import { RECORD_KINDS } from '../api/control/kinds/index.ts';

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** docs/control.md as a whole, from the registry of kinds. */
export function controlPage(table: Table): string {
  const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ') || 'none';
  const sections = RECORD_KINDS.map(
    ({ name, about, key, bounds, deletion, routes, commands, schema }) => `## ${name}

${about}

${table(
  ['', ''],
  [
    ['Key', `\`${key}\``],
    ['Members', code(Object.keys((schema.describe() as { keys: object }).keys))],
    ['Bounds', bounds],
    ['Deletion', deletion],
    ['Endpoints', code(routes)],
    ['Commands', code(commands)],
  ],
)}
`,
  );
  return `# Control plane

<!-- Made by \`npm run docs\` from api/control/kinds; edit those files instead. -->

Tenants, keys and all else that is set of them are records of the compacted topic \`control.v1\`. Each API process reads it whole and follows
it, so look-ups never leave the process ([ADR 52](adr/0052-accounts.md)).

- **Versions.** A change appends the next version of its subject, with an id of the write. Of two nodes that write the same version the first
  on the topic counts, on every node. The other is answered by the next version, or by an error. A record that counts and is not the last of
  its key is appended again, since compaction keeps the last.
- **History.** The topic keeps the last record of a subject. Who changed what, of changes by operators, is in \`logweir admin audit-log\`.
- **Deletion.** A deleted record is kept as deleted, so that a slower write cannot bring it back. Kinds in slots use the slot again.
- **Members that are not known** are let through, so that nodes can be upgraded one by one. Kinds that are not known are passed over.
- \`used:KEY\` has when a key was used last, to the hour; it has no version, the latest time counts.
- Resolution notes of alerts lie with the alerts, on \`alerts.v1\` ([ADR 38](adr/0038-alerting.md)). Rules and sensitivities are settings:
  they stay records of the kind \`setting\`, one for each rule and for each tenant's sensitivities, and need no kinds of their own. Owners of
  partitions append each setting to the logs that processors read ([ADR 25](adr/0025-settings-lie-on-the-log.md)), so that a fold replayed sees each change at the same place; that takes any
  \`setting\`, and knows no other kind. The processor checks the value, which no schema of the control plane could. Versions, deletion, bounds, golden records and the race of two nodes hold for
  \`setting\` as for every kind (\`test/api/control/kinds.test.ts\`).

${sections.join('\n')}`;
}

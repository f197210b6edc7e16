import type { Patch } from './patched-dist.ts';
import type { Scenario } from './scenario.ts';
import { killHostWhileAlerting } from './scenarios/alerts.ts';
import { droppedProduceAnswers } from './scenarios/dropped-answers.ts';
import { forgottenTokens, killHostAtPoints, killSinkAtPoints, stallSinkAtPoints } from './scenarios/fault-points.ts';
import { heldInserts } from './scenarios/held-inserts.ts';

/** A safety part of the product, how it is switched off in a copy, and a scenario that holds with it and must not hold without it. */
export type Mutation = { readonly name: string; readonly about: string; readonly scenario: Scenario; readonly patches: readonly Patch[] };

/** The check of the harness itself: every part that is switched off must be found out, else the scenarios prove nothing. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'intent',
    about:
      'The end of a range is not written down before the range is stored; nor is looked whether more is stored than committed, which finds it out since ADR 11.',
    scenario: killSinkAtPoints,
    patches: [
      {
        file: 'pipeline/bus/range-steps.js',
        find: 'if ((!again || faulty.length > 0) && !(await this.#writeIntent(range, joint?.id)))',
        replace: 'if (!this.#options.isActive())',
      },
      { file: 'pipeline/bus/range-steps.js', find: 'if (highest > (intent?.end ?? from - 1))', replace: 'if (highest < -1)' },
    ],
  },
  {
    name: 'token',
    about: 'Each insert has a token of its own; and is of one partition, since those of several are guarded by their fence.',
    scenario: stallSinkAtPoints,
    patches: [
      { file: 'sinks/writer.js', find: 'async joins() {', replace: 'async joins() {\n        return false;' },
      {
        file: 'sinks/writer.js',
        find: 'insert_deduplication_token: token }',
        replace: 'insert_deduplication_token: randomUUID() }',
      },
    ],
  },
  {
    name: 'idempotence',
    about: 'A batch that is sent again has nothing by which Kafka could know it again.',
    scenario: droppedProduceAnswers,
    patches: [
      { file: 'pipeline/bus/record-batch.js', find: 'BigInt(identity.id), BODY_AT', replace: '-1n, BODY_AT' },
      { file: 'pipeline/bus/record-batch.js', find: 'writeInt16BE(identity.epoch,', replace: 'writeInt16BE(-1,' },
      { file: 'pipeline/bus/record-batch.js', find: 'writeInt32BE(sequence,', replace: 'writeInt32BE(-1,' },
    ],
  },
  {
    name: 'fence',
    about: 'Ranges of an insert of several partitions are repeated while it may still arrive.',
    scenario: heldInserts,
    patches: [{ file: 'sinks/writer.js', find: 'const fence = this.#putUpFence(id);', replace: 'const fence = Promise.resolve();' }],
  },
  {
    name: 'read-back',
    about: 'A range that may be stored already is inserted again without a look at the table, neither before nor by the statement.',
    scenario: forgottenTokens,
    patches: [
      { file: 'sinks/writer.js', find: 'if (again && (await this.#isStored(rest, name)))\n            return [];', replace: '' },
      {
        file: 'sinks/writer.js',
        find: 'const range = again ? { ...rest, inDoubt: inDoubt ?? appendedAt(rest.records.at(-1)) } : rest;',
        replace: 'const range = rest;',
      },
    ],
  },
  {
    name: 'state-order',
    about: 'A snapshot is saved before what was found until then is written.',
    scenario: killHostAtPoints,
    patches: [
      {
        file: 'pipeline/processors/hosted-partition.js',
        find: 'writes.then(async () => {',
        replace: '((run) => void run())(async () => {',
      },
    ],
  },
  {
    name: 'state-clock',
    about: 'A segment of the volume ends by the clock of whoever folds.',
    scenario: killHostAtPoints,
    patches: [
      {
        file: 'pipeline/processors/volume/volume.js',
        find: 'input.appendedAt >= segment.since + minutes * MINUTE_MS',
        replace: 'Date.now() >= segment.since + minutes * MINUTE_MS',
      },
    ],
  },
  {
    name: 'state-once',
    about: 'A host begins at the first record that any of its processors wants, and gives each of them all from there on.',
    scenario: killHostAtPoints,
    patches: [
      {
        file: 'pipeline/processors/hosted-partition.js',
        find: 'if (member.halted !== null || input.offset < member.next)',
        replace: 'if (member.halted !== null)',
      },
    ],
  },
  {
    name: 'state-taken',
    about: 'A merger takes each partial as often as it is on the topic.',
    scenario: killHostWhileAlerting,
    patches: [
      {
        file: 'pipeline/processors/merge/stages.js',
        find: 'own?.take(input.source) === false',
        replace: '(own?.take(input.source), false)',
      },
    ],
  },
];

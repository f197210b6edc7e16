import type { SafetyPart } from '../../pipeline/core/fault-points.ts';
import type { Scenario } from './scenario.ts';
import { killHostWhileAlerting } from './scenarios/alerts.ts';
import { droppedProduceAnswers } from './scenarios/dropped-answers.ts';
import { forgottenTokens, killHostAtPoints, killSinkAtPoints, stallSinkAtPoints } from './scenarios/fault-points.ts';
import { heldInserts } from './scenarios/held-inserts.ts';

/** Safety parts of the product that are switched off (pipeline/core/fault-points.ts), and a scenario that holds with them and must not hold without. */
export type Mutation = { readonly name: string; readonly about: string; readonly scenario: Scenario; readonly off: readonly SafetyPart[] };

/** The check of the harness itself: every part that is switched off must be found out, else the scenarios prove nothing. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'intent',
    about:
      'The end of a range is not written down before the range is stored; nor is looked whether more is stored than committed, which finds it out since ADR 11.',
    scenario: killSinkAtPoints,
    off: ['intent', 'recall'],
  },
  {
    name: 'token',
    about: 'Each insert has a token of its own; and is of one partition, since those of several are guarded by their fence.',
    scenario: stallSinkAtPoints,
    off: ['token', 'joint-insert'],
  },
  {
    name: 'idempotence',
    about: 'A batch that is sent again has nothing by which Kafka could know it again.',
    scenario: droppedProduceAnswers,
    off: ['idempotence'],
  },
  {
    name: 'fence',
    about: 'Ranges of an insert of several partitions are repeated while it may still arrive.',
    scenario: heldInserts,
    off: ['fence'],
  },
  {
    name: 'read-back',
    about: 'A range that may be stored already is inserted again without a look at the table, neither before nor by the statement.',
    scenario: forgottenTokens,
    off: ['read-back'],
  },
  {
    name: 'state-order',
    about: 'A snapshot is saved before what was found until then is written.',
    scenario: killHostAtPoints,
    off: ['state-order'],
  },
  {
    name: 'state-clock',
    about: 'A segment of the volume ends by the clock of whoever folds.',
    scenario: killHostAtPoints,
    off: ['state-clock'],
  },
  {
    name: 'state-once',
    about: 'A host begins at the first record that any of its processors wants, and gives each of them all from there on.',
    scenario: killHostAtPoints,
    off: ['state-once'],
  },
  {
    name: 'state-taken',
    about: 'A merger takes each partial as often as it is on the topic.',
    scenario: killHostWhileAlerting,
    off: ['state-taken'],
  },
];

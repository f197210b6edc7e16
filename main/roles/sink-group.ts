import { FIRST_SET } from '../../pipeline/core/config-sets.ts';

/**
 * The consumer group of a sink that fills a set. That of the first set has no name of a set in it, as where there is no other; groups of another one
 * begin with `logweir-sink.SET-`.
 */
export const sinkGroup = (sink: string, set: string = FIRST_SET): string =>
  set === FIRST_SET ? `logweir-sink-${sink}` : `logweir-sink.${set}-${sink}`;

/** What a sink is called in dead letters and in the log: that of the first set without a name of a set. */
export const stageOf = (sink: string, set: string): string => (set === FIRST_SET ? `sink ${sink}` : `sink ${sink} of the set ${set}`);

/** The groups of a sink in these sets. */
export const sinkGroups = (sink: string, sets: readonly { readonly name: string }[]): readonly string[] =>
  sets.map(({ name }) => sinkGroup(sink, name));

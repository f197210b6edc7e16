import type { Configurable, Fold, Tick } from '../base/processor.ts';
import type { Position } from '../base/position.ts';
import { ByteReader, ByteWriter, unlessCutOff } from '../../core/snapshot-bytes.ts';
import { MAX_SETTINGS, type Setting } from '../../core/setting.ts';
import { joined, slicesOf } from '../base/slices.ts';
import { Settings } from './settings.ts';

/** The state of a processor, and its settings. */
export type WithSettings<State> = { readonly settings: Settings; readonly state: State };

/** How a snapshot with settings begins; those from before there were any do not. */
const BEGIN = Buffer.from('\0settings\n');

type Own = Pick<Configurable<never>, 'hears' | 'mostSettings'> & { readonly name: string };

const isFor = ({ name, hears = [] }: Own, { processor }: Setting): boolean => processor === name || hears.includes(processor);

/** Most settings that it gets. */
const mostOf = ({ mostSettings = MAX_SETTINGS, hears = [] }: Own): number => mostSettings + hears.length * MAX_SETTINGS;

/**
 * A processor or merger with settings, as it is hosted: it gets each new setting where that lies on the log, and its snapshots
 * have those that it got, so that it folds the same from any of them on.
 */
export const withSettings = <State, In extends (Position & { readonly kind: string }) | Tick, Out>(
  processor: Fold<State, In, Out> & Configurable<State>,
): Fold<WithSettings<State>, In, Out> => ({
  name: processor.name,
  init: () => ({ settings: new Settings(mostOf(processor)), state: processor.init() }),
  fold({ settings, state }, input) {
    const setting = input.kind === 'tick' && 'setting' in input ? input.setting : undefined;
    if (setting !== undefined && isFor(processor, setting) && settings.take(setting)) processor.configure?.(state, setting);
    return processor.fold(state, input);
  },
  ...(processor.news === undefined ? {} : { news: ({ state }, partition, next) => processor.news?.(state, partition, next) ?? [] }),
  ...(processor.isBehind === undefined ? {} : { isBehind: ({ state }) => processor.isBehind?.(state) ?? false }),
  lacks: ({ settings }, all: readonly Setting[]) => all.filter((setting) => isFor(processor, setting) && settings.isNew(setting)),
  snapshot({ settings, state }) {
    const to = new ByteWriter();
    settings.write(to);
    return Buffer.concat([BEGIN, to.finish(), processor.snapshot(state)]);
  },
  ...(processor.slices === undefined
    ? {}
    : {
        *slices({ settings, state }) {
          const to = new ByteWriter();
          settings.write(to);
          return yield* joined([BEGIN, to.finish(), yield* slicesOf(processor, state)]);
        },
      }),
  restore(bytes) {
    const isOlder = !bytes.subarray(0, BEGIN.length).equals(BEGIN);
    const from = new ByteReader(bytes, BEGIN.length);
    return unlessCutOff(() => {
      const settings = isOlder ? new Settings(mostOf(processor)) : Settings.read(from, mostOf(processor));
      const state = processor.restore(isOlder ? bytes : from.rest());
      if (state === null) return null;
      for (const setting of settings.all) processor.configure?.(state, setting);
      return { settings, state };
    });
  },
});

/** Fires where a value is three times what it usually is, in two minutes one after the other. */
import type { CustomDetector } from 'logweir/detector';

/** How fast what is usual follows, as a part of each minute; minutes that must be known; the times. */
const [FOLLOW, KNOWN, TIMES] = [1 / 60, 60, 3];

type State = {
  readonly usual: number;
  readonly deviation: number;
  readonly minutes: number;
  /** Minutes in a row that were hot. */
  readonly hot: number;
};

export default {
  name: 'three_times',
  description: 'A value is three times what it was in the last hours, for two minutes.',
  init: () => ({ usual: 0, deviation: 0, minutes: 0, hot: 0 }),
  look(state, { value }) {
    if (value === null) return { state };
    const { usual, deviation, minutes } = state;
    const high = TIMES * usual;
    if (minutes >= KNOWN && value > high && usual > 0) {
      const hot = state.hot + 1;
      const z = (value - usual) / Math.max(deviation, 1e-9);
      return { state: { ...state, hot }, found: hot < 2 ? null : { side: 'up', z, mean: usual, low: 0, high, scale: 2 } };
    }
    // what is hot is not learned
    const part = Math.max(FOLLOW, 1 / (minutes + 1));
    const off = Math.abs(value - usual);
    return {
      state: { usual: usual + (value - usual) * part, deviation: deviation + (off - deviation) * part, minutes: minutes + 1, hot: 0 },
    };
  },
} satisfies CustomDetector<State>;

/** The file of a new detector. */
export const detectorText = (name: string): string => `import type { CustomDetector } from 'logweir/detector';

/** How fast what is usual follows, as a part of each minute; minutes that must be known before it fires. */
const [FOLLOW, KNOWN] = [1 / 60, 60];
/** What fires: this many times what is usual. */
const TIMES = 3;

/** What is known of a series: JSON, of at most 4,096 characters. */
type State = { readonly usual: number; readonly deviation: number; readonly minutes: number };

export default {
  name: '${name}',
  description: 'A value is three times what is usual.',
  init: () => ({ usual: 0, deviation: 0, minutes: 0 }),
  // each minute of a series comes once, in order: no clock, no chance, no input or output
  look(state, { value }) {
    if (value === null) return { state };
    const { usual, deviation, minutes } = state;
    const high = TIMES * usual;
    if (minutes >= KNOWN && usual > 0 && value > high) {
      const z = (value - usual) / Math.max(deviation, 1e-9);
      // what fires is not learned
      return { state, found: { side: 'up', z, mean: usual, low: 0, high } };
    }
    const part = Math.max(FOLLOW, 1 / (minutes + 1));
    const off = Math.abs(value - usual);
    return { state: { usual: usual + (value - usual) * part, deviation: deviation + (off - deviation) * part, minutes: minutes + 1 } };
  },
} satisfies CustomDetector<State>;
`;

/** The test of a new detector in the file of this name: for the runner that Node has, so that it needs no packages. */
export const testText = (name: string, file: string): string => `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import detector from './${file}';

/** The minutes in which it finds something, of a series that has these values from its first minute on. */
function found(values: readonly number[]): number[] {
  let state = detector.init();
  return values.flatMap((value, minute) => {
    const looked: ReturnType<typeof detector.look> = detector.look(state, { minute, value, entries: value, errors: 0 });
    state = looked.state;
    return looked.found == null ? [] : [minute];
  });
}
const minutes = (count: number, value: number): number[] => Array<number>(count).fill(value);

describe('${name}', () => {
  it('finds a value that is more than three times what is usual', () => {
    assert.deepEqual(found([...minutes(90, 10), 40, 40, ...minutes(5, 10)]), [90, 91]);
  });

  it('finds nothing in a steady series, nor before it knows one', () => {
    assert.deepEqual(found(minutes(600, 10)), []);
    assert.deepEqual(found([...minutes(20, 10), 40]), []);
  });
});
`;

// A page that plays events: bundled by the test, which calls it.
import { Replayer } from '@rrweb/replay';

const { document } = globalThis;
let replayer = null;
let start = 0;

globalThis.player = {
  /** Takes events as lines of JSON. */
  load(lines) {
    const events = lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    start = events[0]?.timestamp ?? 0;
    replayer = new Replayer(events, { root: document.body, mouseTail: false, showWarning: false, UNSAFE_replayCanvas: false });
  },
  /** The document as it was at a time. */
  async at(time) {
    replayer.pause(time - start);
    await new Promise((resolve) => globalThis.requestAnimationFrame(resolve));
    return replayer.iframe.contentDocument;
  },
  get sandbox() {
    return replayer?.iframe.getAttribute('sandbox') ?? null;
  },
};

/** The process of a detector of one's own: loads its file and answers requests over the channel to its parent, until that ends. */
import { Worker } from 'node:worker_threads';
import { defaultExport } from '../../core/default-export.ts';
import { detectorFault, lookAt, stateText, type CustomDetector } from '../../detectors/custom.ts';
import type { RequestedSeries, FromDetector, LookedSeries, ToDetector } from './detector-messages.ts';
import { readJson } from '../../core/read-json.ts';

// a detector that loops does not see that its parent has ended: a thread next to it does
const WATCH = `const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 1000);`;
new Worker(WATCH, { eval: true, stdout: false, resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 } }).unref();

const channel = process.send?.bind(process);
const send = (message: FromDetector): void => void channel?.(message);
const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 500);

let detectors: readonly CustomDetector[] = [];

async function load(specifier: string, folder: string): Promise<void> {
  const found = await defaultExport(specifier, 'detector', folder);
  const all: readonly unknown[] = Array.isArray(found) ? found : [found];
  const fault = all.length === 0 ? 'Its default export is an empty list.' : all.map(detectorFault).find((one) => one !== null);
  if (fault !== undefined) throw new Error(`The detector ${specifier} cannot be used: ${fault}`);
  detectors = all as readonly CustomDetector[];
  // what it begins with must be a state
  for (const detector of detectors) stateText(detector.name, detector.init());
  send({ kind: 'loaded', detectors: detectors.map(({ name, description }) => ({ name, description: description.slice(0, 500) })) });
}

function look(detector: CustomDetector, { state: before, points }: RequestedSeries): LookedSeries {
  let state: unknown = before === null ? detector.init() : readJson(before);
  let text = before ?? '';
  const found: LookedSeries['seen'][number][] = [];
  points.forEach(([minute, value, entries, errors], index) => {
    try {
      const looked = lookAt(detector, state, { minute, value, entries, errors });
      [state, text] = [looked.state, looked.text];
      if (looked.seen !== null) found.push([index, looked.seen]);
    } catch (error) {
      const at = new Date(minute * 60_000).toISOString().slice(0, 16);
      throw new Error(`${textOf(error)} (minute ${at}Z, entries ${String(entries)}, errors ${String(errors)})`, { cause: error });
    }
  });
  return { state: text, seen: found };
}

process.on('message', (message: ToDetector) => {
  if (message.kind === 'load') {
    load(message.specifier, message.folder).catch((error: unknown) => {
      send({ kind: 'fault', id: null, fault: error instanceof Error ? error.message : String(error) });
    });
    return;
  }
  const { id, series } = message;
  const detector = detectors.find(({ name }) => name === message.detector);
  try {
    if (detector === undefined) throw new Error(`There is no detector ${message.detector} in it.`);
    send({ kind: 'looked', id, series: series.map((one) => look(detector, one)) });
  } catch (error) {
    send({ kind: 'fault', id, fault: error instanceof Error ? error.message : String(error) });
  }
});
// its parent has ended
process.on('disconnect', () => process.exit(0));
// a terminal ends the whole group: the parent ends first, and then this one
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

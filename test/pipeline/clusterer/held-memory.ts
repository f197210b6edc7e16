/** Prints what 50,000 templates of one tenant hold, in megabytes, and how many had no room: in a process of its own, where nothing else is. */
import { Clusterer } from '../../../pipeline/clusterer/clusterer.ts';
import { sequence } from './generated-messages.ts';

const random = sequence(8);
const word = (): string => Array.from({ length: 8 }, () => 'abcdefghijklmnopqrstuvwxyz'[random(26)]).join('');
global.gc?.();
const before = process.memoryUsage();
const clusterer = new Clusterer({ maxTemplates: 50_000 });
for (let index = 0; index < 60_000; index += 1) clusterer.add(Array.from({ length: 10 }, word).join(' '), index);
global.gc?.();
const after = process.memoryUsage();
const held = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
process.stdout.write(JSON.stringify({ megabytes: held / 1e6, overflow: clusterer.overflow }));

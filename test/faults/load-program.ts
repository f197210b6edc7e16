/** The other side of load-process.ts. It ends with the process that started it. */
import type { LedgerLine } from './ledger.ts';
import { Load } from './load.ts';
import type { FromLoad, ToLoad } from './load-process.ts';

const PUBLISH_MS = 500;

const tell = (message: FromLoad): void => {
  process.send?.(message);
};
const ledger = {
  append: (line: LedgerLine): Promise<void> => {
    tell({ kind: 'line', line });
    return Promise.resolve();
  },
};

let load: Load | null = null;
let timer: NodeJS.Timeout | undefined;

async function take(message: ToLoad): Promise<void> {
  if (message.kind === 'start') {
    const started = new Load({ ...message.options, ledger });
    load = started;
    started.start();
    timer = setInterval(() => tell({ kind: 'totals', totals: started.totals }), PUBLISH_MS);
  } else if (message.kind === 'rate') load?.setRate(message.entriesPerSecond);
  else if (load !== null) {
    clearInterval(timer);
    await load.stop();
    tell({ kind: 'stopped', totals: load.totals });
  }
}

process.once('disconnect', () => process.exit(0));
process.on('message', (message: ToLoad) => void take(message));

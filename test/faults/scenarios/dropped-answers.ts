import { isInsertInto, isProduceTo } from '../proxy.ts';
import type { Match } from '../proxy-rules.ts';
import type { LinkName } from '../cluster.ts';
import type { Scenario } from '../scenario.ts';
import { delivered } from './checks.ts';
import { untilOver } from './until-over.ts';

/** How many answers in a row are dropped, whosever they are. */
const RUNS = [1, 1, 1, 1, 1, 1, 2, 2, 3, 9] as const;

/** A scenario that lets requests through a link and drops their answers with the connection. */
function droppedAnswers(options: {
  readonly name: string;
  readonly about: string;
  readonly link: LinkName;
  readonly match: Match;
  /** What the counter is called. */ readonly dropped: string;
  /** The longest pause between two runs. */ readonly pauseMs: number;
}): Scenario {
  const { name, about, link, match, dropped, pauseMs } = options;
  return {
    name,
    about,
    links: [link],
    entriesPerSecond: 3000,
    sampleSeconds: 10,
    check: delivered,
    run: async (context) => {
      const { cluster, random, counters, wait } = context;
      const proxy = cluster.link(link);
      await untilOver(context, async (signal) => {
        for (let left = random.pick(RUNS); left > 0; left--) {
          await proxy.dropNextResponse(match, signal);
          counters.add(dropped, proxy.counts.droppedResponses - counters.get(dropped));
        }
        await wait(random.below(pauseMs));
      });
    },
  };
}

/** Without sequence numbers of its own for each batch, a producer stores twice after this, or acknowledges what Kafka never got (docs/adr/0002-producer-lanes.md). */
export const droppedProduceAnswers = droppedAnswers({
  name: 'dropped-produce-answers',
  about: 'Kafka appends, and its answer is lost with the connection.',
  link: 'api-kafka',
  match: isProduceTo('logs.v1'),
  dropped: 'dropped produce answers',
  pauseMs: 60,
});

/** The rows are there, and the sink does not know. */
export const droppedInsertAnswers = droppedAnswers({
  name: 'dropped-insert-answers',
  about: 'ClickHouse stores a range, and its answer is lost with the connection.',
  link: 'sink-clickhouse',
  match: isInsertInto('logs'),
  dropped: 'dropped insert answers',
  pauseMs: 60,
});

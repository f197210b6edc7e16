import { expect } from 'chai';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { alertBook } from '../../../../pipeline/alerting/book/alert-book.ts';
import { commandsInputOf } from '../../../../pipeline/alerting/book/command.ts';
import { alerting } from '../../../../pipeline/alerting/streams/alerting.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import { partialInputOf, hostedProcessor, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import type { Fold } from '../../../../pipeline/processors/base/processor.ts';
import { rates } from '../../../../pipeline/processors/rates/rates.ts';
import { alertRowsOf } from '../../../fakes/alert-rows.ts';
import { extent } from '../../../extent.ts';
import { Random } from '../../../fuzz/random.ts';
import { logMessage, tickMessage } from '../../processors/inputs.ts';

const MINUTE_MS = 60_000;
const START = 1_795_478_400_000;
/** Of the past: hours that are enough to learn what is usual, or a day. */
const PAST = extent(360, 1440);
const PARTITIONS = [0, 1];
/** Streams that rise, and streams that stop. */
const [RISING, STOPPING] = [52, 2];
/** Minutes of the runs, and when what happens begins and ends. */
const [MINUTES, FROM, TO] = [30, 3, 10];
const KILLS = 100;

type Logged = { readonly partition: number; readonly message: KafkaMessage };

/** Records of the log: of each stream some entries in a minute; from a minute on, each leaves that. */
function recordsOf(minutes: number, begin: number, offsets: number[], happens: boolean): Logged[] {
  const logged: Logged[] = [];
  for (let minute = 0; minute < minutes; minute++)
    for (const partition of PARTITIONS) {
      const at = START + (begin + minute) * MINUTE_MS;
      const isOn = happens && minute >= FROM && minute < TO;
      const entries = Array.from({ length: RISING + STOPPING }, (_none, stream) => {
        const count = stream < RISING ? (isOn ? 25 : 1 + ((minute + stream) % 3)) : happens && minute >= FROM ? 0 : 20;
        const service = `${stream < RISING ? 'rising' : 'stopping'}-${String(stream)}`;
        const _time = new Date(at + 20_000).toISOString();
        return stream % 2 === partition ? Array.from({ length: count }, () => ({ _time, _msg: 'x', service, level: 'info' })) : [];
      }).flat();
      const next = (): number => (offsets[partition] = (offsets[partition] ?? 0) + 1) - 1;
      logged.push({ partition, message: logMessage(entries, { offset: next(), appendedAt: at + 30_000, streamFields: ['service'] }) });
      logged.push({ partition, message: tickMessage(next(), at + 45_000) });
    }
  return logged;
}

const restored = <State>({ restore }: Pick<Fold<State, never>, 'restore'>, bytes: Buffer): State => {
  const state = restore(bytes);
  if (state === null) throw new Error('A snapshot cannot be read.');
  return state;
};

/** A host of a fold: what it was given since its last snapshot it is given again after a kill, and tells again what it told. */
class Host<Given> {
  readonly #hosted: Fold<unknown, never>;
  #state: unknown;
  #saved: Buffer;
  #since: Given[] = [];
  readonly #fold: (hosted: Fold<unknown, never>, state: unknown, given: Given) => readonly AbsoluteRecord[];

  constructor(
    hosted: Fold<never, never>,
    saved: Buffer | null,
    fold: (hosted: Fold<unknown, never>, state: unknown, given: Given) => readonly AbsoluteRecord[],
  ) {
    // prettier-ignore
    this.#hosted = hosted;
    this.#state = saved === null ? this.#hosted.init() : restored(this.#hosted, saved);
    this.#saved = this.snapshot();
    this.#fold = fold;
  }

  take(given: Given): readonly AbsoluteRecord[] {
    this.#since.push(given);
    return this.#fold(this.#hosted, this.#state, given);
  }

  snapshot(): Buffer {
    return Buffer.from(this.#hosted.snapshot(this.#state));
  }

  save(): void {
    [this.#saved, this.#since] = [this.snapshot(), []];
  }

  /** What it tells again. */
  kill(): AbsoluteRecord[] {
    this.#state = restored(this.#hosted, this.#saved);
    return this.#since.flatMap((given) => [...this.#fold(this.#hosted, this.#state, given)]);
  }
}

type Saved = { readonly counted: readonly Buffer[]; readonly watched: Buffer };

/** Folds records from snapshots on, with so many kills at random places; `again` may change the source of what is told again. */
function run(
  logged: readonly Logged[],
  saved: Saved | null,
  kills: number,
  again: (headers: AbsoluteRecord['headers']) => AbsoluteRecord['headers'] = (own) => own,
) {
  // prettier-ignore
  const random = new Random(7);
  const counting = PARTITIONS.map((partition) => new Host<KafkaMessage>(hostedProcessor(rates) as never, saved?.counted[partition] ?? null, (hosted, state, message) => hosted.fold(state, inputOf(partition, message) as never))); // prettier-ignore
  const watching = new Host<KafkaMessage>(hostedMerger(alerting) as never, saved?.watched ?? null, (hosted, state, message) => hosted.fold(state, partialInputOf(0, message) as never)); // prettier-ignore
  const writing = new Host<KafkaMessage>(alertBook as never, null, (hosted, state, message) => hosted.fold(state, commandsInputOf(0, message) as never)); // prettier-ignore
  const alerts = new Map<number, AlertRow>();
  let [offset, commands, left] = [1_000_000, 0, kills];
  const publish = (records: readonly AbsoluteRecord[]): void => {
    for (const row of alertRowsOf(records)) alerts.set(row.id, row);
  };
  const tell = (records: readonly AbsoluteRecord[], at: string): void => {
    for (const { topic, value, headers } of records)
      if (topic === 'alert-commands.v1')
        publish(writing.take({ value, headers, offset: String(commands++), timestamp: at } as KafkaMessage));
  };
  const append = (records: readonly AbsoluteRecord[], at: string, isAgain = false): void => {
    for (const { topic, value, headers } of records)
      if (topic === 'partials.v1')
        tell(watching.take({ value, headers: isAgain ? again(headers) : headers, offset: String(offset++), timestamp: at } as KafkaMessage), at); // prettier-ignore
  };
  logged.forEach(({ partition, message }, index) => {
    const own = counting[partition] as Host<KafkaMessage>;
    append(own.take(message), message.timestamp);
    // as many at each place as are left for it
    for (; left > ((logged.length - index - 1) * kills) / logged.length; left--) {
      const which = random.below(3);
      if (which === 0) append(own.kill(), message.timestamp, true);
      else if (which === 1) tell(watching.kill(), message.timestamp);
      else publish(writing.kill());
    }
    if (kills > 0 && random.below(8) === 0) own.save();
    if (kills > 0 && random.below(8) === 0) watching.save();
    if (kills > 0 && random.below(8) === 0) writing.save();
  });
  return { alerts, saved: { counted: counting.map((host) => host.snapshot()), watched: watching.snapshot() } };
}

/** An alert, whichever offset its last word has. */
const shown = (alerts: ReadonlyMap<number, AlertRow>): object[] =>
  [...alerts.values()].sort((a, b) => a.id - b.id).map((alert) => ({ ...alert, version: 0 }));

describe('rates, alerting and the book of alerts, from a snapshot with a past on', function () {
  this.timeout(600_000);
  const offsets = [0, 0];
  let day: Saved;
  let logged: readonly Logged[];
  let expected: ReturnType<typeof run>;
  before(() => {
    day = run(recordsOf(PAST, 0, offsets, false), null, 0).saved;
    logged = recordsOf(MINUTES, PAST, offsets, true);
    expected = run(logged, day, 0);
  });

  it('tell more than fifty alerts, the silences since the minute that a recount by hand gives', () => {
    expect(expected.alerts.size).to.be.at.least(50);
    const silences = [...expected.alerts.values()].filter(({ detector }) => detector === 'silence');
    expect(silences.map(({ service }) => service).sort()).to.deep.equal(Array.from({ length: STOPPING }, (_none, index) => `stopping-${String(RISING + index)}`)); // prettier-ignore
    // three minutes without an entry where 60 were expected, looked at each minute until ten minutes before the end
    const third = PAST + FROM + 2;
    for (const { evidence, fireCount } of silences) {
      const { window } = JSON.parse(evidence) as { readonly window: { readonly end: string } };
      const last = (Date.parse(window.end) - START) / MINUTE_MS - 1;
      expect(fireCount).to.equal(last - third + 1);
      expect(last).to.be.within(PAST + MINUTES - 13, PAST + MINUTES - 11);
    }
  });

  it('tell the same alerts and fire counts after a hundred kills, and have the same states', () => {
    const killed = run(logged, day, KILLS);
    expect(shown(killed.alerts)).to.deep.equal(shown(expected.alerts));
    expect(killed.saved.counted).to.deep.equal(expected.saved.counted);
    expect(killed.saved.watched.equals(expected.saved.watched)).to.equal(true);
  });

  it('would be found out where a merger took a partial as often as it comes', () => {
    let number = 0;
    const asAnother = (headers: AbsoluteRecord['headers']): AbsoluteRecord['headers'] => {
      const [partition, offset, , at] = (headers['source']?.toString() ?? '').split(':');
      return { ...headers, source: [partition, offset, String(1000 + number++), at].join(':') };
    };
    const killed = run(logged, day, KILLS, asAnother);
    expect(shown(killed.alerts)).to.not.deep.equal(shown(expected.alerts));
  });
});

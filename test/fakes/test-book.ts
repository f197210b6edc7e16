import type { Alert, AlertRow } from '../../pipeline/alerting/book/alert.ts';
import { type AlertCommand, alertCommandsSignal, commandsInputOf, resolutionRecord } from '../../pipeline/alerting/book/command.ts';
import { alertBook } from '../../pipeline/alerting/book/alert-book.ts';
import type { KafkaMessage } from '../../pipeline/bus/connection/kafka.ts';
import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import { alertRowsOf } from './alert-rows.ts';

/** A partition of `alert-commands.v1`, and the book of alerts that folds it. */
export class TestBook {
  readonly messages: KafkaMessage[] = [];
  #state = alertBook.init();

  /** The alerts that the commands among these records have changed. `at`: when they are appended, milliseconds. */
  take(records: readonly Pick<AbsoluteRecord, 'topic' | 'value' | 'headers'>[], at: number): AlertRow[] {
    return records.flatMap(({ topic, value, headers }) => {
      if (topic !== alertCommandsSignal.topic.name) return [];
      const message = { value, headers, offset: String(this.messages.length), timestamp: String(at) } as unknown as KafkaMessage;
      this.messages.push(message);
      return alertRowsOf(alertBook.fold(this.#state, commandsInputOf(0, message)));
    });
  }

  /** A user resolves an alert. */
  resolve(alert: Alert, note: string, at: number): AlertRow[] {
    return this.take([resolutionRecord({ alert, note })], at);
  }

  snapshot(): Buffer {
    return Buffer.from(alertBook.snapshot(this.#state));
  }

  /** Begins again from a snapshot. */
  restart(): void {
    const state = alertBook.restore(this.snapshot());
    if (state === null) throw new Error('The snapshot of the book cannot be read.');
    this.#state = state;
  }

  /** Others that know the same. */
  copy(): TestBook {
    const copy = new TestBook();
    copy.messages.push(...this.messages);
    const state = alertBook.restore(this.snapshot());
    if (state !== null) copy.#state = state;
    return copy;
  }
}

/** The commands among what a source puts out. */
export const commandsOf = (records: readonly Pick<AbsoluteRecord, 'topic' | 'value' | 'headers'>[]): readonly AlertCommand[] =>
  records.flatMap(({ topic, value, headers }) => {
    if (topic !== alertCommandsSignal.topic.name) return [];
    const input = commandsInputOf(0, { value, headers, offset: '0', timestamp: '0' } as unknown as KafkaMessage);
    if (input.kind === 'tick') throw new Error('Commands cannot be read.');
    return input.commands;
  });

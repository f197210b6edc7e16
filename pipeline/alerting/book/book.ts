import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { isOn } from '../../core/fault-points.ts';
import { readJson } from '../../core/read-json.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import { mostOf, type Bounds } from '../../processors/base/bounds.ts';
import type { Fold, Tick } from '../../processors/base/processor.ts';
import { whole } from '../../processors/base/slices.ts';
import { Taken } from '../../processors/base/taken.ts';
import { alertRow, type Alert } from './alert.ts';
import { AlertBook } from './alert-book.ts';
import { alertRecords } from './alerts-signal.ts';
import type { CommandsInput } from './commands-signal.ts';

const VERSION = 1;
const MIB = 1024 * 1024;
/** Of what alerts take of a partition: they fit into a snapshot of 64 MiB. */
const BOUNDS: Bounds = { most: 32 * MIB, ofTenant: 12 * MIB, few: 0.5 * MIB, last: 48 * MIB };
/** Who may tell, at most. */
const MOST_REPORTERS = 100;
/** How often it is looked for what is over of tenants of which nothing comes: by append time, milliseconds. */
const SWEEP_MS = 3_600_000;
/** Versions of rows were offsets on `partials.v1` in releases before; all of these are less. */
export const FIRST_VERSION = 2 ** 44;

/** The alerts of a partition of `alert-commands.v1`. */
export type Books = {
  readonly tenants: Map<number, AlertBook>;
  /** What was had of each who tells. */
  readonly taken: Map<string, Taken>;
  /** Bytes of all books, about. */
  bytes: number;
  sweptAt: number;
};

const TAKES_ONCE = isOn('state-taken');

/**
 * The book of alerts (docs/adr/0038-alerting.md): folds what sources have found and what users have resolved, each once, and publishes
 * each alert that has changed, whole.
 */
export const alertBook: Fold<Books, CommandsInput | Tick> = {
  name: 'alert-book',
  init: () => ({ tenants: new Map(), taken: new Map(), bytes: 0, sweptAt: 0 }),

  fold(state, input) {
    sweep(state, input.appendedAt);
    return input.kind === 'tick' || (!isNew(state, input) && TAKES_ONCE) ? [] : publish(state, input);
  },

  snapshot: (state) => whole(slices(state)),
  slices,

  restore(bytes) {
    const from = new ByteReader(bytes);
    try {
      if (from.count() !== VERSION) return null;
      const state: Books = { tenants: new Map(), taken: new Map(), bytes: 0, sweptAt: from.count() };
      for (let left = from.count(MOST_REPORTERS); left > 0; left--) state.taken.set(from.text(), Taken.read(from));
      for (let left = from.count(0xffff_ffff); left > 0; left--) {
        const tenantId = from.count(0xffff_ffff);
        const book = AlertBook.from(readJson(Buffer.from(from.text(), 'latin1').toString()));
        state.tenants.set(tenantId, book);
        state.bytes += book.bytes;
      }
      return from.isAtEnd ? state : null;
    } catch (error) {
      if (error instanceof CutOff || error instanceof SyntaxError || error instanceof TypeError) return null;
      throw error;
    }
  },
};

function* slices({ tenants, taken, sweptAt, bytes }: Books): Generator<undefined, Buffer> {
  // memory that is not written to is not taken
  const to = new ByteWriter(4096 + bytes);
  for (const number of [VERSION, sweptAt, taken.size]) to.count(number);
  for (const [reporter, own] of taken) {
    to.text(reporter);
    own.write(to);
  }
  to.count(tenants.size);
  for (const [tenantId, book] of tenants) {
    to.count(tenantId);
    to.text(Buffer.from(JSON.stringify(book)).toString('latin1'));
    yield;
  }
  return to.finish();
}

/** False for a record that was there before. */
function isNew({ taken }: Books, { reporter, source }: CommandsInput): boolean {
  if (source === null) return true;
  let own = taken.get(reporter);
  if (own === undefined) {
    if (taken.size >= MOST_REPORTERS) return false;
    taken.set(reporter, (own = new Taken()));
  }
  return own.take(source);
}

/** The records of the alerts that a record of commands has changed. */
function publish(
  state: Books,
  { partition, offset, appendedAt, tenantId, retentionDays, reporter, commands }: CommandsInput,
): AbsoluteRecord[] {
  let book = state.tenants.get(tenantId);
  if (book === undefined) state.tenants.set(tenantId, (book = new AlertBook()));
  const own = book;
  const before = own.bytes;
  const who = { reporter, tenantId, retentionDays, mayTake: () => own.bytes < mostOf(before, state.bytes, BOUNDS) };
  // of an alert the last word counts
  const changed = new Map<number, Alert>();
  for (const command of commands) {
    const alert = own.take(command, who, Math.floor(appendedAt / 1000));
    if (alert !== null) changed.set(alert.id, alert);
  }
  state.bytes += own.bytes - before;
  const rows = [...changed.values()].map((alert) => alertRow(alert, FIRST_VERSION + offset));
  return alertRecords(partition, rows);
}

/** Forgets, each hour, what nobody tells anything of. */
function sweep(state: Books, appendedAt: number): void {
  if (appendedAt < state.sweptAt + SWEEP_MS) return;
  state.sweptAt = appendedAt;
  state.bytes = 0;
  for (const [tenantId, book] of state.tenants) {
    book.sweep(Math.floor(appendedAt / 1000));
    if (book.isEmpty) state.tenants.delete(tenantId);
    else state.bytes += book.bytes;
  }
}

/** The pattern of an entry: its template, how often it came, what its placeholders were. */
import type { JSX } from 'preact';
import { ApiError } from '../../client/client.ts';
import { request, useLater, useRequest, type AnswerOf } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import { Button } from '../components/controls.tsx';
import { Sparkline, Time } from '../components/data.tsx';
import { BusyBar, Empty, ErrorNote } from '../components/states.tsx';
import { split } from '../editor/tokens.ts';
import { quote } from '../../../logsql/base/reserved.ts';
import { idOf, isRecent, textOf, type Entry } from './entry.ts';
import { query, run } from './state.ts';

type Known = AnswerOf<'GET /patterns/{fingerprint}'>;
type Found = { readonly fingerprint: string; readonly template: string; readonly known: Known | null };

/** A pattern that is not stored yet, or no longer, is none; what is refused is told. */
function missing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
}

/** The fingerprint that the service gives a message: errors have it, others are looked up. */
async function patternOf(entry: Entry, signal: AbortSignal): Promise<Found | null> {
  let [fingerprint, template] = [textOf(entry, '_fingerprint'), ''];
  if (fingerprint === '') {
    const time = textOf(entry, '_time');
    const text = `_stream:${textOf(entry, '_stream')} _msg:=${quote(textOf(entry, '_msg'))} | patterns 1`;
    if (text.length > 10_000) return null;
    const answer = await request('POST /search', { body: { query: text, start: time, end: time, limit: 1 } }, signal);
    const [row] = 'logs' in answer ? (answer.logs as readonly Entry[]) : [];
    if (row === undefined) return null;
    [fingerprint, template] = [textOf(row, 'fingerprint'), textOf(row, 'normalized_message')];
  }
  const known = await request('GET /patterns/{fingerprint}', { path: { fingerprint }, query: { since: '-7d' } }, signal).catch(missing);
  return { fingerprint, template: known?.pattern.normalized_message ?? template, known };
}

function Placeholders({ known }: { readonly known: Known }): JSX.Element {
  return (
    <>
      {known.placeholders.map(({ placeholder, position, values }) => (
        <section key={position}>
          <h3 class="cap">
            <bdi>{placeholder}</bdi> in place {position + 1}
          </h3>
          <ul class="plain-list">
            {values.slice(0, 5).map(({ value, hits }) => (
              <li key={value} class="row-of">
                <span class="mono cut grow">
                  <bdi>{value}</bdi>
                </span>
                <span class="faint">{count(hits)}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {known.sampled > 0 ? <p class="cap">Values of the newest {plural(known.sampled, 'entry', 'entries')}.</p> : null}
    </>
  );
}

export function PatternTab({ entry }: { readonly entry: Entry }): JSX.Element {
  const loaded = useRequest((signal) => patternOf(entry, signal), [idOf(entry)]);
  const { value, error, isBusy, again } = loaded;
  useLater(loaded, value === null && error === null && isRecent(entry));
  if (error !== null) return <ErrorNote error={error} onAgain={again} />;
  if (value === null)
    return isBusy ? (
      <BusyBar isBusy />
    ) : (
      <Empty title="No pattern">
        {
          <p>
            {isRecent(entry)
              ? 'It is looked up once the entry is stored, some seconds after it came.'
              : 'The message is too long to be looked up, or is not stored any more.'}
          </p>
        }
      </Empty>
    );
  const { fingerprint, template, known } = value;
  const filter = (isNot: boolean): void => {
    const [head, pipes] = split(query.value);
    const own = `${isNot ? 'NOT ' : ''}_fingerprint:${fingerprint}`;
    run(`${isNot && head !== '' && head !== '*' ? `${head} ` : ''}${own} ${isNot ? pipes : ''}`.trim());
  };
  return (
    <div class="drawer-pad stack">
      <p class="mono pattern-text">
        <bdi>{template}</bdi>
      </p>
      {known === null ? null : (
        <>
          <p>
            <b>{count(known.pattern.count)}</b> in 7 days, first <Time iso={known.pattern.first_seen} />
          </p>
          <Sparkline
            width={320}
            height={32}
            values={known.history.map(({ hits }) => Number(hits))}
            label="Entries by hour, the last 7 days"
            tone="var(--accent)"
          />
        </>
      )}
      <div class="row-of">
        <Button onClick={() => filter(false)}>Show its entries</Button>
        <Button onClick={() => filter(true)}>Hide them</Button>
      </div>
      {known === null ? null : <Placeholders known={known} />}
      <p class="cap mono cut" title={fingerprint}>
        {fingerprint}
      </p>
    </div>
  );
}

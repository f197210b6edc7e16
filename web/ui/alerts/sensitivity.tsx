/** How easily a detector fires, changed where its alert is read: with what each choice would have fired, before it is saved. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAction, type Action } from '../base/action.ts';
import { request, useRequest, type AnswerOf } from '../base/api.ts';
import { plural } from '../base/format.ts';
import { lacks } from '../base/session.ts';
import { Button, Select } from '../components/controls.tsx';
import { Busy, ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { toast } from '../components/toasts.tsx';
import { FiredCount, FiredLane } from './fired.tsx';
import { strengthOf, withRule, type Strength } from './sensitivity-rules.ts';

const CHOICES: readonly (readonly [Strength, string])[] = [
  ['off', 'Off'],
  ['low', 'Low'],
  ['normal', 'Normal'],
  ['high', 'High'],
];
/** Detectors whose alerts can be told beforehand. */
const PREVIEWED = ['log_rate', 'error_rate', 'silence', 'pattern_rate'];

type Detectors = AnswerOf<'GET /detectors'>;
type Preview = AnswerOf<'POST /detectors/preview'>;

type Props = { readonly detector: string; readonly stream: string; readonly fingerprint: string | null };

/** What is replayed: the pattern, the stream, or the streams with the most entries. */
function queryOf({ detector, stream, fingerprint }: Props, isAll: boolean): string {
  if (detector === 'pattern_rate') return fingerprint === null ? '*' : `_fingerprint:${fingerprint}`;
  return isAll || stream === '' || stream === '{}' ? '*' : `_stream:${stream}`;
}

function Choice({
  name,
  strength,
  isChosen,
  isNow,
  preview,
  onChoose,
}: {
  readonly name: string;
  readonly strength: Strength;
  readonly isChosen: boolean;
  readonly isNow: boolean;
  readonly preview: Preview | null;
  readonly onChoose: () => void;
}): JSX.Element {
  const fired = preview === null || strength === 'off' ? [] : preview.series.flatMap(({ alerts }) => alerts[strength]);
  return (
    <label class={isChosen ? 'strength on' : 'strength'}>
      <input type="radio" name="strength" checked={isChosen} onChange={onChoose} />
      <span class="strong">{name}</span>
      <span class="cap strength-now">{isNow ? 'set now' : ''}</span>
      <span class="strength-fired">{preview === null ? '' : <FiredCount fired={fired.length} />}</span>
      {preview === null ? null : <FiredLane fired={fired} window={preview.window} />}
    </label>
  );
}

/** Saves how easily a detector fires for a stream; for all, where it is empty. */
function useSave(detector: string, stream: string, onSaved: (next: Detectors) => void): Action<Strength> {
  return useAction(
    async (next: Strength, signal) => {
      // those that another has set meanwhile stay
      const { rules } = await request('GET /detectors', {}, signal);
      return request('PUT /detectors', { body: { rules: withRule(rules, detector, stream, next) } }, signal);
    },
    {
      onDone: (saved) => {
        onSaved(saved);
        toast('Sensitivity saved');
      },
    },
  );
}

/** The choices with what each would have fired, and what saves one of them. */
function Editor({
  known,
  onSaved,
  ...props
}: Props & { readonly known: Detectors; readonly onSaved: (next: Detectors) => void }): JSX.Element {
  const { detector, stream } = props;
  const hasStream = stream !== '' && stream !== '{}';
  const [isAll, setAll] = useState(!hasStream);
  const [chosen, setChosen] = useState<Strength | null>(null);
  const now = strengthOf(known, detector, isAll ? '' : stream);
  const query = queryOf(props, isAll);
  const isPreviewed = PREVIEWED.includes(detector);
  const preview = useRequest(isPreviewed ? (signal) => request('POST /detectors/preview', { body: { detector, query } }, signal) : null, [detector, query]); // prettier-ignore
  const next = chosen ?? now;
  const save = useSave(detector, isAll ? '' : stream, (saved) => {
    onSaved(saved);
    setChosen(null);
  });
  const streams = preview.value?.series.length ?? 0;
  return (
    <>
      {hasStream ? (
        <Select
          label="For which streams"
          value={isAll ? 'all' : 'one'}
          options={[['one', 'For this stream'], ['all', 'For all streams']]}
          onChange={(value) => { setAll(value === 'all'); setChosen(null); }}
        />
      ) : null}
      <Busy of={preview} />
      <fieldset class="strengths">
        <legend class="cap">
          {isPreviewed ? 'How easily, and what would have fired in the last 24 hours' : 'How easily'}
          {isAll && streams > 1 ? `, of the ${plural(streams, 'stream')} with the most entries` : ''}
        </legend>
        {CHOICES.map(([strength, name]) => (
          <Choice key={strength} {...{ name, strength }} isChosen={strength === next} isNow={strength === now} preview={preview.value} onChoose={() => setChosen(strength)} />
        ))}
      </fieldset>
      {preview.error === null ? null : <ErrorNote error={preview.error} onAgain={preview.again} />}
      <div class="row-of">
        <Button kind="primary" testId="save-sensitivity" reason={lacks('write') ?? (next === now ? 'It is set so already.' : null)} onClick={() => save.start(next)}>
          Save
        </Button>
        <Pending of={save} />
        {isPreviewed ? null : <span class="cap">There is no preview of this detector.</span>}
      </div>
      <Refusal of={save} />
    </>
  ); // prettier-ignore
}

export function Sensitivity(props: Props): JSX.Element | null {
  const { detector, stream } = props;
  const [isOpen, setOpen] = useState(false);
  const { value, error, again } = useRequest((signal) => request('GET /detectors', {}, signal), [detector, stream]);
  const [saved, setSaved] = useState<Detectors | null>(null);
  if (error !== null) return <ErrorNote error={error} onAgain={again} />;
  const known = saved ?? value;
  const look = known?.detectors.find(({ name }) => name === detector);
  if (known === null || look === undefined) return null;
  return (
    <section class="panel" aria-label="Sensitivity">
      <header class="panel-head">
        <h3 class="grow">How easily {detector} fires</h3>
        <span class="badge">{strengthOf(known, detector, stream)}</span>
        <Button isSmall isExpanded={isOpen} onClick={() => setOpen(!isOpen)} testId="change-sensitivity">
          {isOpen ? 'Close' : 'Change…'}
        </Button>
      </header>
      <p class="muted">{look.description}</p>
      {isOpen ? <Editor {...props} known={known} onSaved={setSaved} /> : null}
    </section>
  );
}

/** How easily a detector fires, changed where its alert is read. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { request, useRequest, type AnswerOf } from '../base/api.ts';
import { lacks } from '../base/session.ts';
import { Button, Select } from '../components/controls.tsx';
import { ErrorNote } from '../components/states.tsx';
import { toast } from '../components/toasts.tsx';
import { withRule, type Strength } from './sensitivity-rules.ts';

const WORDS: readonly (readonly [string, string])[] = [
  ['preset', 'as set for others'],
  ['off', 'off'],
  ['low', 'low'],
  ['normal', 'normal'],
  ['high', 'high'],
];

export function Sensitivity({ detector, stream }: { readonly detector: string; readonly stream: string }): JSX.Element | null {
  const { value, error, again } = useRequest((signal) => request('GET /detectors', {}, signal), [detector, stream]);
  const [known, setKnown] = useState<AnswerOf<'GET /detectors'> | null>(null);
  const [refused, setRefused] = useState<Error | null>(null);
  if (error !== null) return <ErrorNote error={error} onAgain={again} />;
  const now = known ?? value;
  if (now === null || !now.detectors.some(({ name }) => name === detector)) return null;
  const reason = lacks('write');
  const save = async (of: string, next: string): Promise<void> => {
    setRefused(null);
    try {
      // those that another has set meanwhile stay
      const { rules } = await request('GET /detectors', {});
      const body = { rules: withRule(rules, detector, of, next === 'preset' ? null : (next as Strength)) };
      setKnown(await request('PUT /detectors', { body }));
      toast('Sensitivity saved');
    } catch (thrown) {
      setRefused(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  };
  const places = [
    [stream, 'of this stream'],
    ['', 'of all streams'],
  ] as const;
  return (
    <section class="panel" aria-label="Sensitivity">
      <header class="panel-head">
        <h3 class="grow">How easily {detector} fires</h3>
      </header>
      <p class="muted">{now.detectors.find(({ name }) => name === detector)?.description}</p>
      <div class="row-of sensitivity">
        {places.map(([of, name]) => {
          const chosen = now.rules.find((rule) => rule.detector === detector && (rule.stream ?? '') === of)?.sensitivity ?? 'preset';
          return reason === null ? (
            <label key={name} class="row-of">
              {name}
              <Select label={`Sensitivity ${name}`} value={chosen} options={WORDS} onChange={(next) => void save(of, next)} />
            </label>
          ) : (
            <Button key={name} reason={reason}>
              {name}: {chosen === 'preset' ? 'as set for others' : chosen}
            </Button>
          );
        })}
      </div>
      {refused === null ? null : <ErrorNote error={refused} />}
    </section>
  );
}

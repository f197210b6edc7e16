/** The editor of queries: a textarea of the browser's own, with the same text in colours behind it. */
import { Component, type JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { completionAt, type Completion, type Known, type Option } from './complete.ts';
import { fixOf } from './fix.ts';
import type { Problem } from './parse.ts';
import { piecesOf } from './tokens.ts';

export type EditorProps = {
  readonly value: string;
  readonly known: Known;
  readonly onChange: (value: string) => void;
  readonly onRun: (value: string) => void;
  /** Earlier queries, the latest first. */
  readonly past: readonly string[];
  /** An error that the service has found, by its offset. */
  readonly problem: Problem | null;
};

type Parse = (query: string) => Problem | null;
let parse: Parse | null = null;
/** Beyond this, colours are left to be drawn when the typing rests. */
const QUIET_MS = 200;

/** The problem of what is typed, a moment after it was. The parser is loaded when the first thing is typed. */
function useProblem(value: string, isTouched: boolean): Problem | null {
  const [found, setFound] = useState<Problem | null>(null);
  useEffect(() => {
    setFound(null);
    if (!isTouched) return;
    let isLeft = false;
    const timer = setTimeout(() => {
      const load = parse === null ? import('./parse.ts').then(({ problemOf }) => (parse = problemOf)) : Promise.resolve(parse);
      load.then((run) => !isLeft && setFound(run(value)), () => undefined); // prettier-ignore
    }, QUIET_MS);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [value, isTouched]);
  return found;
}

type Coloured = { readonly text: string; readonly kind: string; readonly isWrong: boolean };
/** Pieces of a part of the text: what is typed changes one part, and the others are not looked at again. */
const PART = 48;

const isOther = ({ text, kind, isWrong }: Coloured, before: Coloured | undefined): boolean => text !== before?.text || kind !== before.kind || isWrong !== before.isWrong; // prettier-ignore

/** Some pieces, drawn anew only where they have changed. */
class Part extends Component<{ readonly pieces: readonly Coloured[] }> {
  override shouldComponentUpdate({ pieces }: { readonly pieces: readonly Coloured[] }): boolean {
    const before = this.props.pieces;
    return pieces.length !== before.length || pieces.some(({ text, kind, isWrong }, at) => isOther({ text, kind, isWrong }, before[at]));
  }

  override render(): JSX.Element {
    return (
      <span>
        {this.props.pieces.map(({ text, kind, isWrong }, index) =>
          kind === 'plain' && !isWrong ? (
            text
          ) : (
            <span key={index} class={`k-${kind}${isWrong ? ' k-wrong' : ''}`}>
              {text}
            </span>
          ),
        )}
      </span>
    );
  }
}

/** The text in colours; a problem is underlined. It never takes a pointer, and readers of screens do not see it. */
function Overlay({ value, problem }: { readonly value: string; readonly problem: Problem | null }): JSX.Element {
  const pieces = useMemo(() => piecesOf(value), [value]);
  const parts: Coloured[][] = [];
  let at = 0;
  for (const [index, { text, kind }] of pieces.entries()) {
    const [start, end] = [at, (at += text.length)];
    if (index % PART === 0) parts.push([]);
    parts.at(-1)?.push({ text, kind, isWrong: problem !== null && start < problem.end && end > problem.start });
  }
  return (
    <div class="q-overlay" aria-hidden="true">
      {parts.map((own, index) => (
        <Part key={index} pieces={own} />
      ))}
      {problem !== null && problem.start >= value.length ? <span class="k-wrong"> </span> : null}
      {'\n'}
    </div>
  );
}

function Options({
  completion,
  chosen,
  onTake,
}: {
  readonly completion: Completion;
  readonly chosen: number;
  readonly onTake: (option: Option) => void;
}): JSX.Element {
  return (
    <div class="float q-options" role="listbox" id="q-options" aria-label="Completions">
      {completion.options.map((option, index) => (
        <div
          key={option.shown}
          id={`q-option-${String(index)}`}
          class="option"
          role="option"
          aria-selected={index === chosen}
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(option);
          }}
        >
          <span class={`mono k-${option.kind === 'field' ? 'field' : option.kind === 'value' ? 'value' : 'pipe'}`}>{option.shown}</span>
          <span class="grow cut faint num">{option.help}</span>
        </div>
      ))}
    </div>
  );
}

const NOTHING: Completion = { from: 0, to: 0, options: [] };

/** What is offered, and the keys that choose of it. */
function useCompletion({ value, known, onChange }: EditorProps, area: { readonly current: HTMLTextAreaElement | null }) {
  const [completion, setCompletion] = useState<Completion>(NOTHING);
  const [chosen, setChosen] = useState(-1);
  const caret = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (caret.current === null) return;
    area.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [value]);
  const close = (): void => {
    setCompletion(NOTHING);
    setChosen(-1);
  };
  const look = (text: string, at: number): void => {
    setCompletion(completionAt(text, at, known));
    setChosen(-1);
  };
  const take = (option: Option): void => {
    const { from, to } = completion;
    const next = value.slice(0, from) + option.text + value.slice(to);
    caret.current = from + option.text.length;
    onChange(next);
    if (option.kind === 'field') look(next, from + option.text.length);
    else close();
  };
  /** True where the key was for the options. */
  const onKey = (event: KeyboardEvent): boolean => {
    const { options } = completion;
    if (options.length === 0) return false;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const isTaken = event.key === 'Tab' || (event.key === 'Enter' && chosen >= 0 && !event.ctrlKey && !event.metaKey);
    const option = options[Math.max(0, chosen)];
    if (step !== 0 && !event.altKey) setChosen((chosen + step + options.length + (chosen < 0 && step < 0 ? 1 : 0)) % options.length);
    else if (isTaken && option !== undefined && !event.shiftKey) take(option);
    else if (event.key === 'Escape') close();
    else return false;
    return true;
  };
  return { completion, chosen, look, close, take, onKey };
}

/** Walks through earlier queries: Alt and an arrow. */
function usePast({ value, past, onChange }: EditorProps): (step: number) => void {
  const at = useRef(-1);
  const draft = useRef('');
  return (step) => {
    if (at.current < 0) draft.current = value;
    at.current = Math.max(-1, Math.min(past.length - 1, at.current + step));
    onChange(at.current < 0 ? draft.current : (past[at.current] ?? ''));
  };
}

const PLAIN_TEXT = {
  placeholder: 'Everything. Type a word, or field:value',
  spellcheck: false,
  autocomplete: 'off',
  autoCapitalize: 'off',
  maxLength: 10_000,
} as const;

/** What is wrong, in words, and what it may have been meant to be. */
function Message({
  problem,
  fix,
  onFix,
}: {
  readonly problem: Problem | null;
  readonly fix: string | null;
  readonly onFix: (text: string) => void;
}): JSX.Element {
  return (
    <div id="query-problem" role="status" class="q-problem">
      {problem?.text}
      {fix === null ? null : (
        <button type="button" class="q-fix" onPointerDown={(event) => event.preventDefault()} onClick={() => onFix(fix)}>
          Use <span class="mono">{fix.length > 80 ? `…${fix.slice(-80)}` : fix}</span>
        </button>
      )}
    </div>
  );
}

type Reach = {
  readonly area: { readonly current: HTMLTextAreaElement | null };
  readonly options: ReturnType<typeof useCompletion>;
  readonly walk: (step: number) => void;
};

/** What the keys do: choose of the options, run, walk through earlier queries. */
function keysOf({ value, onRun }: EditorProps, { area, options, walk }: Reach): (event: KeyboardEvent) => void {
  return (event) => {
    const isRun = event.key === 'Enter' && !event.shiftKey && !event.isComposing;
    const past = event.altKey && (event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0);
    if (options.onKey(event)) event.preventDefault();
    else if (past !== false && past !== 0) {
      event.preventDefault();
      walk(past);
    } else if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      options.look(value, area.current?.selectionStart ?? value.length);
    } else if (isRun) {
      event.preventDefault();
      options.close();
      onRun(value);
    } else if (event.key === 'Escape') area.current?.blur();
  };
}

export function QueryEditor(props: EditorProps): JSX.Element {
  const { value, onChange } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const [isTouched, setTouched] = useState(false);
  const options = useCompletion(props, area);
  const walk = usePast(props);
  const problem = useProblem(value, isTouched) ?? props.problem;
  const fix = problem === null ? null : fixOf(value);
  const type = (text: string): void => {
    setTouched(true);
    onChange(text);
  };
  const onKeyDown = keysOf(props, { area, options, walk });
  return (
    <div class={`q-box${problem === null ? '' : ' has-problem'}`}>
      <div class="q-text">
        <Overlay value={value} problem={problem} />
        <textarea
          ref={area}
          id="query"
          class="q-area"
          rows={1}
          aria-label="Query, in LogsQL"
          aria-haspopup="listbox"
          aria-controls="q-options"
          aria-activedescendant={options.chosen >= 0 ? `q-option-${String(options.chosen)}` : undefined}
          aria-autocomplete="list"
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : 'query-problem'}
          {...PLAIN_TEXT}
          value={value}
          onInput={({ currentTarget: { value: text, selectionStart } }) => {
            type(text);
            options.look(text, selectionStart);
          }}
          onKeyDown={onKeyDown}
          onBlur={options.close}
        />
      </div>
      {options.completion.options.length > 0 ? (
        <Options completion={options.completion} chosen={options.chosen} onTake={options.take} />
      ) : null}
      <Message
        problem={problem}
        fix={fix}
        onFix={(text) => {
          type(text);
          area.current?.focus();
        }}
      />
    </div>
  );
}

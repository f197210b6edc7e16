import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { commands, type Command } from '../base/keys.ts';
import { singleKeys } from '../base/settings.ts';
import { Button, Dialog } from '../components/controls.tsx';

/** The keys of a command as they are pressed. */
function Keys({ keys }: { readonly keys: string }): JSX.Element {
  return (
    <span class="row-of" style={{ gap: '2px' }}>
      {keys.split(' ').map((key) => (
        <kbd key={key}>{key.replace('Arrow', '').replace('Ctrl+', 'Ctrl ').replace('ENTER', 'Enter')}</kbd>
      ))}
    </span>
  );
}

/** Commands whose name has all the words, in their order. */
function matching(list: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return list.filter(({ name, section }) => words.every((word) => `${section} ${name}`.toLowerCase().includes(word)));
}

function CommandList({
  found,
  at,
  onRun,
}: {
  readonly found: readonly Command[];
  readonly at: number;
  readonly onRun: (command: Command) => void;
}): JSX.Element {
  return (
    <div role="listbox" id="palette-list" aria-label="Commands">
      {found.map((command, index) => (
        <div
          key={command.name}
          id={`palette-${String(index)}`}
          class="option"
          role="option"
          aria-selected={index === at}
          aria-disabled={(command.reason ?? null) !== null}
          onClick={() => onRun(command)}
        >
          <span class="faint" style={{ width: '72px', flex: 'none' }}>
            {command.section}
          </span>
          <span class="grow">{command.name}</span>
          {(command.reason ?? null) === null ? <Keys keys={command.keys} /> : <span class="cap">{command.reason}</span>}
        </div>
      ))}
      {found.length === 0 ? <p class="empty">Nothing has this name.</p> : null}
    </div>
  );
}

/** All that can be done, found by its name. */
export function Palette({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = matching(commands.value, text);
  const run = (command: Command | undefined): void => {
    if (command === undefined || (command.reason ?? null) !== null) return;
    onClose();
    // the dialog gives the focus back first
    queueMicrotask(command.run);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && found.length > 0) {
      event.preventDefault();
      setAt((at + step + found.length) % found.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      run(found[at]);
    }
  };
  return (
    <Dialog title="Search or jump" onClose={onClose} class="palette">
      <input
        class="input"
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${String(at)}` : undefined}
        placeholder="What to do, where to go"
        autoFocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <CommandList found={found} at={at} onRun={run} />
    </Dialog>
  );
}

/** The sheet of all keys. */
export function KeySheet({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const sections = [...new Set(commands.value.map(({ section }) => section))];
  const isOn = singleKeys.value === 'on';
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="stack">
        {sections.map((section) => (
          <section key={section}>
            <h3 class="cap">{section}</h3>
            <div class="keys">
              {commands.value
                .filter((one) => one.section === section && one.keys !== '')
                .map(({ name, keys }) => (
                  <div key={name}>
                    <span>{name}</span>
                    <Keys keys={keys} />
                  </div>
                ))}
            </div>
          </section>
        ))}
        <div class="row-of">
          <Button isSmall isPressed={isOn} onClick={() => void (singleKeys.value = isOn ? 'off' : 'on')}>
            Single keys are {isOn ? 'on' : 'off'}
          </Button>
          <span class="cap">Those with Ctrl always work.</span>
        </div>
      </div>
    </Dialog>
  );
}

/** The keys of the pages: each is a command with a name, which the palette and the sheet of keys list. */
import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { singleKeys } from './settings.ts';

export type Command = {
  /** As `g e`, `Shift+Y`, `Ctrl+K`, `/`; empty: it is in the palette alone. */
  readonly keys: string;
  readonly name: string;
  readonly section: string;
  readonly run: () => void;
  /** Also while one types. */
  readonly isEverywhere?: true;
  /** Why it cannot be done now. */
  readonly reason?: string | null;
};

/** What can be done now, the latest first. */
export const commands = signal<readonly Command[]>([]);

/** Offers commands as long as a component is there. */
export function useCommands(list: readonly Command[], inputs: readonly unknown[] = []): void {
  useEffect(() => {
    commands.value = [...list, ...commands.peek()];
    return () => {
      commands.value = commands.peek().filter((one) => !list.includes(one));
    };
  }, inputs);
}

/** A key as it is written here. */
function keyOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): string {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  const isNamed = key.length > 1 || /[A-Z]/.test(key);
  const name = key === ' ' ? 'Space' : key;
  return [ctrlKey || metaKey ? 'Ctrl+' : '', altKey ? 'Alt+' : '', shiftKey && isNamed ? 'Shift+' : '', ctrlKey || metaKey ? name.toUpperCase() : name].join(''); // prettier-ignore
}

/** The keys before, where a command has two (`g e`). */
let begun = '';
let begunAt = 0;
const SECOND_KEY_MS = 1500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** What a click has left focused: the keys that would press it are not meant for it. */
let clicked: Element | null = null;

const PRESSABLE = 'a, button, summary';

function followClicks(): void {
  document.addEventListener('pointerdown', ({ target }) => void (clicked = target instanceof Element ? target.closest(PRESSABLE) : null));
  document.addEventListener('focusout', ({ target }) => {
    if (target === clicked) clicked = null;
  });
}

/** Enter and Space press what keys have led to, where it can be pressed. */
const isPressed = ({ key, target }: KeyboardEvent): boolean =>
  (key === 'Enter' || key === ' ') && target instanceof Element && target.matches(PRESSABLE) && target !== clicked;

export function listenToKeys(): void {
  followClicks();
  document.addEventListener('keydown', (event) => {
    if (isPressed(event)) return;
    if (event.defaultPrevented || event.isComposing || ['Control', 'Shift', 'Alt', 'Meta'].includes(event.key)) return;
    const key = keyOf(event);
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isOff = isTyping(event.target) || document.querySelector('dialog[open]') !== null || (isPlain && singleKeys.peek() === 'off');
    const pair = event.timeStamp - begunAt < SECOND_KEY_MS && begun !== '' ? `${begun} ${key}` : '';
    const named = (name: string): Command | undefined => commands.peek().find(({ keys, isEverywhere }) => keys === name && keys !== '' && (isEverywhere === true || !isOff)); // prettier-ignore
    // of two keys the second alone may mean something else
    const found = named(pair) ?? named(key);
    begun = found === undefined && !isOff && key === 'g' ? 'g' : '';
    begunAt = event.timeStamp;
    if (found === undefined || (found.reason ?? null) !== null) return;
    event.preventDefault();
    found.run();
  });
}

/** What is pressed, chosen and filled in. */
import type { ComponentChildren, JSX, Ref } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export type ButtonProps = {
  readonly children?: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly kind?: 'primary' | 'plain' | 'danger' | '';
  readonly isSmall?: boolean;
  /** Of a button that shows a sign alone. */
  readonly label?: string;
  readonly title?: string;
  /** Why it cannot be pressed; null: it can. It stays focusable, so that the reason can be read. */
  readonly reason?: string | null;
  readonly isPressed?: boolean;
  readonly isExpanded?: boolean;
  readonly type?: 'submit' | 'button';
  readonly isIcon?: boolean;
  readonly testId?: string;
  readonly class?: string;
};

/** A button; one that cannot be pressed has its reason as title and description. */
export function Button(props: ButtonProps): JSX.Element {
  const { children, onClick, kind = '', isSmall, label, reason = null, isPressed, isExpanded, type = 'button', isIcon } = props;
  const names = ['btn', kind, isSmall === true ? 'small' : '', isIcon === true ? 'icon' : '', props.class ?? ''].filter(
    (one) => one !== '',
  );
  return (
    <button
      type={type}
      class={names.join(' ')}
      aria-label={label}
      title={reason ?? props.title ?? label}
      aria-disabled={reason === null ? undefined : 'true'}
      aria-description={reason ?? undefined}
      aria-pressed={isPressed}
      aria-expanded={isExpanded}
      data-test={props.testId}
      onClick={(event) => {
        if (reason === null) onClick?.(event);
        else event.preventDefault();
      }}
    >
      {children}
    </button>
  );
}

export type Tab = { readonly id: string; readonly name: string };

/** Tabs; the arrows move between them. */
export function Tabs({
  tabs,
  current,
  onChange,
  label,
}: {
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly onChange: (id: string) => void;
  readonly label: string;
}): JSX.Element {
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === current);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChange(next.id);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ id, name }) => (
        <button
          type="button"
          key={id}
          role="tab"
          data-tab={id}
          aria-selected={id === current}
          tabIndex={id === current ? 0 : -1}
          onClick={() => onChange(id)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

/** A labelled field of a form. */
export function Field({
  name,
  note,
  children,
}: {
  readonly name: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <label class="field">
      <span>{name}</span>
      {children}
      {note === undefined ? null : <small>{note}</small>}
    </label>
  );
}

/** A choice of few. */
export function Select({
  value,
  options,
  onChange,
  label,
}: {
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onChange: (value: string) => void;
  readonly label: string;
}): JSX.Element {
  return (
    <select
      class="input select"
      style={{ width: 'auto' }}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** A dialog of the browser's own: it keeps the focus, and Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
  class: name = '',
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
}): JSX.Element {
  const at: Ref<HTMLDialogElement> = useRef(null);
  const id = useId();
  useEffect(() => {
    at.current?.showModal();
  }, []);
  return (
    <dialog
      ref={at}
      class={name}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === at.current) onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id} class="grow">
          {title}
        </h2>
        <Button kind="plain" isSmall isIcon label="Close" onClick={onClose}>
          ✕
        </Button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** What floats below its button; a press elsewhere and Escape close it. */
export function Popover({
  isOpen,
  onClose,
  children,
  label,
  align = 'right',
  class: name = '',
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly label: string;
  readonly align?: 'left' | 'right';
  readonly class?: string;
}): JSX.Element | null {
  const at: Ref<HTMLDivElement> = useRef(null);
  useEffect(() => {
    if (!isOpen) return;
    const outside = (event: Event): void => {
      if (event.target instanceof Node && at.current?.parentElement?.contains(event.target) === false) onClose();
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
    };
  }, [isOpen]);
  if (!isOpen) return null;
  return (
    <div
      ref={at}
      class={`float ${name}`}
      role="dialog"
      aria-label={label}
      style={{ top: 'calc(100% + 4px)', [align]: 0 }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        event.preventDefault();
        (at.current?.parentElement?.querySelector('button') as HTMLElement | null)?.focus();
        onClose();
      }}
    >
      {children}
    </div>
  );
}

import type { JSX } from 'preact';

/** The name and its sign. */
export function Brand(): JSX.Element {
  return (
    <span class="row-of">
      <svg
        viewBox="0 0 18 18"
        width="18"
        height="18"
        fill="none"
        stroke="var(--accent)"
        stroke-width="2"
        stroke-linecap="round"
        aria-hidden="true"
      >
        <path d="M2 5h14M2 9h9M2 13h5" />
        <path d="M14 9v5M16.4 11.6 14 14l-2.4-2.4" stroke-width="1.6" />
      </svg>
      Logweir
    </span>
  );
}

import type { JSX } from 'preact';

export default function Explore(): JSX.Element {
  return <p>…</p>;
}

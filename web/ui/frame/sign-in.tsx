import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import { signIn, signInProblem } from '../base/session.ts';
import { Button, Field } from '../components/controls.tsx';
import { Brand } from './brand.tsx';

/** Why a key was not taken, and what to do. */
function problemOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The service cannot be reached.';
  if (error.status === 403 && /scope/.test(error.message)) return 'This key cannot read: these pages need the scope “read”.';
  return error.message;
}

/** Asks for a key. */
export function SignIn(): JSX.Element {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(signInProblem.value);
  const [isBusy, setBusy] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = key.trim();
    if (given === '') {
      setProblem('Paste a key first.');
      return;
    }
    setBusy(true);
    signIn(given)
      .catch((error: unknown) => setProblem(problemOf(error)))
      .finally(() => setBusy(false));
  };
  return (
    <main class="page" id="page">
      <form class="sign-in" onSubmit={submit} aria-label="Sign in">
        <h1 class="title">
          <Brand />
        </h1>
        <p class="muted">Sign in with an API key of your tenant that has the scope “read”.</p>
        <Field name="API key">
          <input
            class="input mono"
            type="password"
            name="key"
            autoComplete="current-password"
            spellcheck={false}
            autoFocus
            aria-invalid={problem !== null}
            aria-describedby="sign-in-problem"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </Field>
        <div id="sign-in-problem" role="alert">
          {problem === null ? null : <div class="note error">{problem}</div>}
        </div>
        <Button type="submit" kind="primary">
          {isBusy ? 'Signing in …' : 'Sign in'}
        </Button>
        <p class="cap">The key stays in this tab until it is closed. It is in no address, no log and no other storage.</p>
      </form>
    </main>
  );
}

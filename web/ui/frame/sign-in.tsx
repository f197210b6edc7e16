import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import { useAction } from '../base/action.ts';
import { canSignInAgain, signIn, signInAgain, signInProblem } from '../base/session.ts';
import { Button, Field } from '../components/controls.tsx';
import { ErrorNote } from '../components/states.tsx';
import { Brand } from './brand.tsx';

/** Why nobody is signed in. What this tab has to sign in with is tried again, where the service could not look at it. */
function Problem({ error }: { readonly error: Error }): JSX.Element {
  const isOfScope = error instanceof ApiError && error.status === 403 && error.message.includes('scope');
  return (
    <ErrorNote error={error} {...(canSignInAgain() ? { onAgain: () => void signInAgain() } : {})}>
      {isOfScope ? <p>These pages need a key that has the scope “read”.</p> : null}
    </ErrorNote>
  );
}

/** Asks for a key. */
export function SignIn(): JSX.Element {
  const [key, setKey] = useState('');
  const signing = useAction(() => signIn(key.trim()));
  const problem = signing.error ?? signInProblem.value;
  return (
    <main class="page" id="page">
      <form
        class="sign-in"
        aria-label="Sign in"
        onSubmit={(event) => {
          event.preventDefault();
          signing.start();
        }}
      >
        <h1 class="title">
          <Brand />
        </h1>
        <p class="muted">Sign in with an API key of your tenant that has the scope “read”.</p>
        <Field name="API key">
          <input
            class="input mono"
            type="password"
            name="key"
            required
            autoComplete="current-password"
            spellcheck={false}
            autoFocus
            aria-invalid={problem !== null}
            aria-describedby="sign-in-problem"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </Field>
        <div id="sign-in-problem">{problem === null ? null : <Problem error={problem} />}</div>
        <Button type="submit" kind="primary">
          {signing.isBusy ? 'Signing in …' : 'Sign in'}
        </Button>
        <p class="cap">The key stays in this tab until it is closed. It is in no address, no log and no other storage.</p>
      </form>
    </main>
  );
}

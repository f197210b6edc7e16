import './base/language.ts';
import './style/components.css';
import { render, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { listenToConnection } from './base/connection.ts';
import { listenToKeys } from './base/keys.ts';
import { hrefOf, listenToAddress, navigate, route } from './base/route.ts';
import { session, signInAgain } from './base/session.ts';
import { BusyBar } from './components/states.tsx';
import { Frame } from './frame/frame.tsx';
import { SignIn } from './frame/sign-in.tsx';

/** What leads to another page by itself: the address without one. */
function redirected(): void {
  const { page, tenant } = route.value;
  if (page === '' && session.value !== null) navigate(hrefOf(tenant ?? session.value.known.tenant_id, 'explore'), { isReplaced: true });
}

function App(): JSX.Element {
  const [isKnown, setKnown] = useState(false);
  useEffect(() => {
    void signInAgain().finally(() => setKnown(true));
  }, []);
  useEffect(redirected, [route.value, session.value]);
  if (!isKnown) return <BusyBar isBusy />;
  return session.value === null ? <SignIn /> : <Frame />;
}

listenToAddress();
listenToConnection();
listenToKeys();
const at = document.getElementById('app');
if (at !== null) render(<App />, at);

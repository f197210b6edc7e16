/** Alerts as they come, by the socket; it opens again by itself, from where it was. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { session, socketProtocols } from '../base/session.ts';
import type { Alert } from './evidence.ts';

type Frame = { readonly type: string; readonly alert: Alert };
const WAITS_MS = [500, 1000, 2000, 4000, 8000];

/** Follows the alerts of the tenant; whether it is connected. */
export function useAlertFeed(onAlert: (alert: Alert, type: string) => void): boolean {
  const [isConnected, setConnected] = useState(false);
  const take = useRef(onAlert);
  take.current = onAlert;
  useEffect(() => {
    let socket: WebSocket | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let tries = 0;
    let since = new Date().toISOString();
    const open = (): void => {
      const { key, known } = session.peek() ?? {};
      if (key === undefined || known === undefined) return;
      const place = `/ws/alerts/${String(known.tenant_id)}?updates=true&since=${encodeURIComponent(since)}`;
      socket = new WebSocket(location.origin.replace(/^http/, 'ws') + place, socketProtocols(key));
      socket.onopen = () => {
        tries = 0;
        setConnected(true);
      };
      socket.onmessage = ({ data }: MessageEvent<string>) => {
        const frame = JSON.parse(data) as Partial<Frame>;
        if (frame.alert === undefined) return;
        since = frame.alert.last_updated_at;
        take.current(frame.alert, frame.type ?? '');
      };
      socket.onclose = () => {
        setConnected(false);
        timer = setTimeout(open, WAITS_MS[Math.min(tries, WAITS_MS.length - 1)]);
        tries += 1;
      };
    };
    open();
    return () => {
      clearTimeout(timer);
      if (socket === null) return;
      socket.onclose = null;
      socket.close();
    };
  }, []);
  return isConnected;
}

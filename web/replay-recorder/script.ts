/**
 * The recorder as one script, for pages without a bundler: `<script src="replay-recorder.js" data-url="…" data-key="…" data-service="…"></script>`
 * begins to record; without `data-key` call `LogweirReplay.start(options)`. Nothing is inline, so that it works under a strict CSP.
 */
import { start, type Recorder, type RecorderOptions } from './recorder.ts';

type Global = { LogweirReplay?: { readonly start: typeof start; recorder: Promise<Recorder> | null } };

function optionsOf({ url, key, service, version, user, share, replay }: DOMStringMap): RecorderOptions | null {
  if (url === undefined || key === undefined) return null;
  return {
    ...{ url, key },
    ...(service === undefined ? {} : { service }),
    ...(version === undefined ? {} : { version }),
    ...(user === undefined ? {} : { user }),
    ...(share === undefined ? {} : { share: Number(share) }),
    ...(replay === undefined ? {} : { replay: replay !== 'off' }),
  };
}

const script = document.currentScript;
const options = script === null ? null : optionsOf((script as HTMLScriptElement).dataset);
(globalThis as Global).LogweirReplay = { start, recorder: options === null ? null : start(options) };

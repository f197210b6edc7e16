/** Redoc's options: it computes with colours, so that it gets numbers in place of the variables of `style/tokens.css`, which these are. */
const LIGHT = {
  ...{ ground: '#ffffff', sunken: '#f2f3f6', line: '#e2e4e9', ink: '#23262f', second: '#52565f', accent: '#4b3fc9' },
  ...{ error: '#a8222a', warn: '#7a5a00', ok: '#1b6e43', code: '#16181d', onCode: '#e9eaee' },
};
const DARK = {
  ...{ ground: '#111319', sunken: '#191c23', line: '#2b2f38', ink: '#e6e8ec', second: '#aeb2bb', accent: '#a7a3f5' },
  ...{ error: '#f29c98', warn: '#e0c06f', ok: '#7bd8a2', code: '#0b0d11', onCode: '#e6e8ec' },
};
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif";
const MONO = "ui-monospace, SFMono-Regular, 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

const textOf = (colours: typeof LIGHT): object => ({
  ...{ fontSize: '14px', lineHeight: '1.5', fontFamily: FONT, smoothing: 'antialiased' },
  headings: { fontFamily: FONT, fontWeight: '600', lineHeight: '1.3' },
  code: { fontSize: '12px', fontFamily: MONO, color: colours.ink, backgroundColor: colours.sunken, wrap: true },
  links: { color: colours.accent, visited: colours.accent, hover: colours.accent },
});

const coloursOf = (colours: typeof LIGHT): object => ({
  primary: { main: colours.accent },
  success: { main: colours.ok },
  warning: { main: colours.warn },
  error: { main: colours.error },
  gray: { 50: colours.sunken, 100: colours.sunken },
  border: { light: colours.line, dark: colours.line },
  text: { primary: colours.ink, secondary: colours.second },
});

/** What Redoc is given, for light or dark. `top`: how much of the page's height the bar above it has. */
export function redocOptions(isDark: boolean, top: number): object {
  const colours = isDark ? DARK : LIGHT;
  return {
    ...{
      nativeScrollbars: true,
      hideDownloadButtons: true,
      disableSearch: true,
      scrollYOffset: top,
      requiredPropsFirst: true,
      expandResponses: '',
      jsonSamplesExpandLevel: 3,
    },
    theme: {
      spacing: { sectionVertical: 20 },
      colors: coloursOf(colours),
      typography: textOf(colours),
      sidebar: { backgroundColor: colours.sunken, textColor: colours.ink, activeTextColor: colours.accent, width: '280px' },
      schema: {
        nestedBackground: colours.sunken,
        typeNameColor: colours.second,
        typeTitleColor: colours.second,
        requireLabelColor: colours.error,
      },
      rightPanel: { backgroundColor: colours.code, textColor: colours.onCode, width: '36%' },
      codeBlock: { backgroundColor: '#0b0d11' },
    },
  };
}

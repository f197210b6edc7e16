import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
/** Times the size of the SVG. */
const ZOOM = 1.5;

/** An SVG as a PNG. The font comes with us: a machine without fonts shows the same. */
export async function pngOf(svg: string): Promise<Buffer> {
  const { Resvg } = await import('@resvg/resvg-js');
  const folder = path.dirname(require.resolve('dejavu-fonts-ttf/package.json'));
  const fontFiles = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((file) => path.join(folder, 'ttf', file));
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: 'DejaVu Sans' };
  return new Resvg(svg, { font, fitTo: { mode: 'zoom', value: ZOOM } }).render().asPng();
}

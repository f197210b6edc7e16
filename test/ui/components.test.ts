import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const PAGES = path.resolve(import.meta.dirname, '../../web/ui');

describe('the page of all components', () => {
  it('shows each of them', () => {
    const shown = readFileSync(path.join(PAGES, 'pages/styleguide.tsx'), 'utf8');
    const names = globSync('components/*.tsx', { cwd: PAGES }).flatMap((file) =>
      [...readFileSync(path.join(PAGES, file), 'utf8').matchAll(/^export function ([A-Z]\w+)/gm)].map(([, name = '']) => name),
    );
    expect(names).to.include.members(['Button', 'Panel', 'ErrorNote', 'Level']);
    // what was done is told by the frame, wherever one is
    expect(names.filter((name) => name !== 'Toasts' && !new RegExp(`<${name}\\b`).test(shown))).to.deep.equal([]);
  });
});

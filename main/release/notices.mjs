import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * @typedef {object} RuntimePackage
 * @property {string} name
 * @property {string} version
 * @property {string} license as package-lock.json has it: an SPDX expression
 * @property {string} text its licence files; empty where it has none, or is for another platform
 */

/**
 * The packages that a running service needs, by name and version.
 * @param {string} root the folder of package-lock.json, with the packages installed
 * @returns {RuntimePackage[]}
 */
export function runtimePackages(root) {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([at, { dev, devOptional }]) => at !== '' && !dev && !devOptional)
    .map(([at, { version, license }]) => {
      const name = at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return { name, version, license: String(license), text: licenceText(path.join(root, at)) };
    })
    .sort((a, b) => (a.name < b.name || (a.name === b.name && a.version < b.version) ? -1 : 1));
}

/** @param {string} folder */
function licenceText(folder) {
  if (!existsSync(folder)) return '';
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i.test(file));
  return files.sort().map((file) => readFileSync(path.join(folder, file), 'utf8').trim()).join('\n\n'); // prettier-ignore
}

/**
 * A page with the licence of each package, the same text once.
 * @param {readonly RuntimePackage[]} packages
 */
export function thirdPartyNotices(packages) {
  /** @type {Map<string, RuntimePackage[]>} */
  const byText = new Map();
  for (const one of packages) byText.set(one.text, [...(byText.get(one.text) ?? []), one]);
  const parts = [...byText].map(([text, list]) => {
    const names = list.map(({ name, version, license }) => `- ${name} ${version} (${license})`).join('\n');
    return `${names}\n\n${text === '' ? 'Its package has no licence file here.' : `\`\`\`text\n${text.replaceAll('```', "'''")}\n\`\`\``}`;
  });
  return `# Notices of third parties\n\nLogweir runs on these packages, each under its own licence.\n\n${parts.join('\n\n')}\n`;
}

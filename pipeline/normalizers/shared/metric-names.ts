/** Names as Prometheus' classic rules want them: other characters become underscores, and none begins with a digit. */
export function plainName(name: string, isMetric = false): string {
  const plain = name.replaceAll(isMetric ? /[^a-zA-Z0-9_:]/gu : /[^a-zA-Z0-9_]/gu, '_');
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

/** What the errors of systems mean, by their code. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: nothing listens there',
  ENOTFOUND: 'the name cannot be resolved',
  EAI_AGAIN: 'the name cannot be resolved just now',
  ETIMEDOUT: 'there was no answer in time',
  EHOSTUNREACH: 'there is no route to it',
  ECONNRESET: 'the connection was closed: perhaps it speaks another protocol there, or TLS',
  EPIPE: 'the connection was closed: perhaps it speaks another protocol there, or TLS',
  EPROTO: 'it does not speak TLS there',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by a trusted authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by a trusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by a trusted authority',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};
/** What was answered, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code, cause, name, message } = error as Error & { readonly code?: unknown };
  const known = typeof code === 'string' ? REASONS[code] : undefined;
  if (known !== undefined) return known;
  // kafkajs hides the reason in what it has tried again and again
  if (name === 'KafkaJSNumberOfRetriesExceeded' && cause !== undefined) return reasonOf(cause);
  const inside = Object.entries(REASONS).find(([one]) => message.includes(one));
  if (inside !== undefined) return inside[1];
  if (/Connection timeout/i.test(message)) return REASONS['ETIMEDOUT'] ?? '';
  return message;
}

/** A text as the end of a sentence. */
export const ended = (text: string): string => `${text.trim().replace(/\.$/, '')}.`;

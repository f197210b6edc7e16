/**
 * Something that keeps the service from starting and that its operator can fix:
 * the message is one whole sentence, printed as it is, without a stack.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}

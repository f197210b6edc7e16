/** Bytes that are not what they are declared to be: a compressed stream, or a body of a wire format. The message states what is wrong. */
export class CorruptBytes extends Error {}

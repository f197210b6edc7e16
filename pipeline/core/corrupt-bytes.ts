/** Bytes that are not what they are said to be: a compressed stream, or a body of a wire format. The message is a sentence that says what is wrong. */
export class CorruptBytes extends Error {}

/** The string of a stream's id, as `fields _stream_id` shows it. */
export const formatStreamId = (tenantId: number, id: string): string =>
  tenantId.toString(16).padStart(16, '0') + BigInt(id).toString(16).padStart(32, '0');

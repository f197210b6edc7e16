/** Where the embedded ClickHouse keeps what is not on its own disk: a folder, or a prefix on S3 by its URL. Without keys: the environment's. */
export type StoragePlace = { readonly at: string; readonly accessKey: string; readonly secretKey: string };

/** Whether it is the URL of a prefix on S3; credentials in it are none. */
export const isS3 = (at: string): boolean => /^https?:\/\/[^@]+$/.test(at);

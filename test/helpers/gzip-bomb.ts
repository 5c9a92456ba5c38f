import { gzipSync } from 'node:zlib';

const mebibyte = gzipSync(Buffer.alloc(2 ** 20, ' '));

/** Blanks, a thousand times smaller than they are. RFC 1952 §2.2: gzip may have many members, so one is packed for all. */
export const gzipBomb = (mebibytes: number): Buffer => Buffer.concat(Array(mebibytes).fill(mebibyte));

import nodeFs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Meanwhile every file is closed, and closing reports an error, as on a network file system. */
export function withFailingClose(act: () => void): void {
  const { closeSync } = nodeFs;
  nodeFs.closeSync = (fd) => {
    closeSync(fd);
    throw Object.assign(new Error('EIO: i/o error, close'), { code: 'EIO' });
  };
  syncBuiltinESMExports();
  try {
    act();
  } finally {
    nodeFs.closeSync = closeSync;
    syncBuiltinESMExports();
  }
}

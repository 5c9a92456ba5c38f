// Writes what is left on the heap after a garbage collection, in bytes, to the file in HEAP_FILE at every SIGUSR2.
// For `node --expose-gc --require`.
const { writeFileSync } = require('node:fs');

process.on('SIGUSR2', () => {
  gc();
  writeFileSync(process.env.HEAP_FILE, String(process.memoryUsage().heapUsed));
});

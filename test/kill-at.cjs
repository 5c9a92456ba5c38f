// Loaded into a process by NODE_OPTIONS: kills it at moment KILL_AT. Each write to the journal, to
// a socket or to a pipe has three moments: before it, when half of it is written, after it.
const fs = require('node:fs');
const { Socket } = require('node:net');

let momentsLeft = Number(process.env.KILL_AT);
const mayDie = (half) => {
  if (momentsLeft-- !== 0) return;
  half?.();
  process.kill(process.pid, 'SIGKILL');
};

const { appendFileSync } = fs;
fs.appendFileSync = (path, line, options) => {
  mayDie();
  mayDie(() => appendFileSync(path, line.slice(0, line.length / 2), options));
  appendFileSync(path, line, options);
  mayDie();
};

const { _write, _writev } = Socket.prototype;
Socket.prototype._write = function (chunk, ...more) {
  mayDie();
  mayDie(() => _write.call(this, chunk.slice(0, chunk.length / 2), ...more));
  _write.call(this, chunk, ...more);
  mayDie();
};
Socket.prototype._writev = function (chunks, ...more) {
  mayDie();
  mayDie(() => _writev.call(this, chunks.slice(0, chunks.length / 2), ...more));
  _writev.call(this, chunks, ...more);
  mayDie();
};

#!/usr/bin/env node
// In old syntax, so that an old Node gets as far as the message.
var parts = process.versions.node.split('.');
if (Number(parts[0]) < 20 || (parts[0] === '20' && Number(parts[1]) < 19)) {
  process.stderr.write(
    'runctl: needs Node 20.19 or newer, this is ' + process.versions.node + '\n',
  );
  process.exit(70);
}
var nodeModule = require('node:module');
try {
  if (nodeModule.enableCompileCache) nodeModule.enableCompileCache(); // from Node 22 on
  require('../dist/process.cjs').runProcess();
} catch (error) {
  process.stderr.write(
    'runctl: the installation is broken (in a clone, type npm ci first): ' +
      String(error.message).split('\n')[0] +
      '\n',
  );
  process.exit(70);
}

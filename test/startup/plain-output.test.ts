import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Output, openOutput } from '../../src/startup/plain-output.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

function openFile(path: string, flags: string | number): number {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** The output to a descriptor, what its stream was given, and the errors that it reported. */
function open(fd: number) {
  const streamed: string[] = [];
  const failed: unknown[] = [];
  const stream: Output = {
    on() {},
    write(text, written) {
      streamed.push(String(text));
      written?.();
    },
  };
  const output = openOutput(fd, () => stream);
  if (output !== stream) output.on('error', ({ code }) => failed.push(code));
  return { output, stream, streamed, failed };
}

test('a file holds what was written as soon as the call returns, and no stream is opened', () => {
  const path = join(temporaryFolder(), 'file');
  const { output, streamed } = open(openFile(path, 'w'));
  output.write('ä\n');
  output.write('b\n');
  output.write('');
  expect(readFileSync(path, 'utf8')).toBe('ä\nb\n');
  expect(streamed).toEqual([]);
});

test('what is more than an empty pipe has room for is written to the stream, and all after it', () => {
  const path = join(temporaryFolder(), 'file');
  const { output, streamed } = open(openFile(path, 'w'));
  const [first, second] = ['a'.repeat(4000), 'ä'.repeat(50)];
  for (const text of [first, second, 'c', '']) output.write(text);
  expect(readFileSync(path, 'utf8')).toBe(first);
  expect(streamed).toEqual([second, 'c', '']);
});

test('a pipe that is full, and set not to wait for its reader, is left to the stream', () => {
  const path = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const fd = openFile(path, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(fd, 'x'.repeat(4096));
  }).toThrow('EAGAIN');
  const { output, streamed, failed } = open(fd);
  output.write('text');
  expect({ streamed, failed }).toEqual({ streamed: ['text'], failed: [] });
});

test('the error of a write is reported, and its end all the same', () => {
  const { output, failed } = open(openFile(import.meta.filename, 'r'));
  output.write('text', () => failed.push('the end'));
  expect(failed).toEqual(['EBADF', 'the end']);
});

test('a descriptor that is closed, and what is neither file nor pipe, is a stream from the start', () => {
  for (const fd of [9_999, openFile('/dev/null', 'w')]) {
    const { output, stream } = open(fd);
    expect(output).toBe(stream);
  }
});

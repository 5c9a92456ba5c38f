/** Whether a URL's host name, as the URL parser writes it, means this machine. */
export function isLoopback(hostname: string): boolean {
  const isMapped = /^\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]$/.test(hostname);
  return isMapped || /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

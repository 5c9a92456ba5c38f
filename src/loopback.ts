/**
 * Does this host name stand for this machine itself? Takes it as the URL parser writes it: in lower case, IPv4 in four
 * decimal parts, IPv6 in brackets.
 */
export function isLoopback(hostname: string): boolean {
  const isMapped = /^\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]$/.test(hostname);
  return isMapped || /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/**
 * Whether there is an `@` after the host of a URL. Then the password in the URL probably contains
 * one of the characters that end a host, and the URL parser takes the user name for the host. No
 * part of such a URL may be shown or resolved.
 */
export function hasAtSignAfterHost(url: string): boolean {
  const withoutScheme = url.replace(/^[a-z][a-z\d+.-]*:\/\//i, '');
  return /[/?#\\].*@/s.test(withoutScheme);
}

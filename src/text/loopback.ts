/** Whether a host name, as the URL parser writes it, means this machine. */
export const isLoopback = (hostname: string): boolean =>
  /^((.+\.)?localhost\.?|127(\.\d+){3}|\[::1\])$/.test(hostname);

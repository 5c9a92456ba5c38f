// Only the files of undici that are used are imported: they load in 17 ms, and the complete package
// in 44. They aren't its public interface, so package.json pins its version.
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';

export { buildConnector, Pool };

/**
 * For response headers. Gateways add cookies of far more than the 16 KB that Node allows
 * (nodejs/node#47246).
 */
export const maxHeaderSize = 256 * 1024;

/**
 * Loaded only for an HTTP proxy. A tunnel is opened with a method that only the package as a whole
 * gives its dispatchers.
 */
export async function loadTunnelClient() {
  const { default: Dispatcher } = await import('undici/lib/dispatcher/dispatcher.js');
  const { default: connect } = await import('undici/lib/api/api-connect.js');
  Dispatcher.prototype.connect = connect;
  return Client;
}

/**
 * Loaded only for a SOCKS proxy. Unlike the agent around it, it prints no warning and takes a
 * socket of ours.
 */
export async function loadSocks5Client() {
  const { default: socks } = await import('undici/lib/core/socks5-client.js');
  return socks.Socks5Client;
}

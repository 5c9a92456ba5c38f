// undici by the files that are used: whole, it takes 44 ms to load, and these take 17. They aren't its interface, so that
// package.json pins its version.
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';

export { buildConnector, Client, Pool };

/** Loaded only where there is a proxy. */
export async function loadProxyAgent() {
  const { default: Dispatcher } = await import('undici/lib/dispatcher/dispatcher.js');
  const { default: connect } = await import('undici/lib/api/api-connect.js');
  // A tunnel is opened with a method that only the package as a whole gives its dispatchers.
  Dispatcher.prototype.connect = connect;
  const { default: ProxyAgent } = await import('undici/lib/dispatcher/proxy-agent.js');
  return ProxyAgent;
}

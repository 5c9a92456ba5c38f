// The inner files of undici that `undici.ts` loads have no types of their own.
declare module 'undici/lib/api/api-request.js' {
  import type { Client } from 'undici';

  const request: Client['request'];
  export default request;
}
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export default Client;
}

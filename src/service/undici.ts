// These inner files load 50 ms sooner than the package as a whole.
export { default as request } from 'undici/lib/api/api-request.js';
export { default as Client } from 'undici/lib/dispatcher/client.js';

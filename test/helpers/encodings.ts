const hexOf = (text: string) => Buffer.from(text).toString('hex');
const base64Of = (text: string) => Buffer.from(text).toString('base64');

/** Every way in which a secret may come back whole. */
export const encodings: Record<string, (secret: string) => string> = {
  raw: (secret) => secret,
  'base64, padded': base64Of,
  'base64, bare': (secret) => base64Of(secret).replace(/=+$/, ''),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'percent-encoded': encodeURIComponent,
  'percent-encoded as an address': encodeURI,
  'percent-encoded as a form': (secret) => new URLSearchParams({ k: secret }).toString().slice(2),
  'percent-encoded, every byte': (secret) => hexOf(secret).replace(/../g, '%$&'),
  'JSON-escaped': (secret) => JSON.stringify(secret).slice(1, -1),
  'JSON-escaped by PHP': (secret) => JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
  'JSON-escaped, every character': (secret) =>
    [...secret].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  'HTML-escaped': (secret) =>
    secret.replace(/[&<>"'/=]/g, (character) => `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`),
  'HTML-escaped by name': (secret) => secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  'lower hex': hexOf,
  'upper hex': (secret) => hexOf(secret).toUpperCase(),
  'Latin-1 read as UTF-8': (secret) => Buffer.from(secret, 'latin1').toString('utf8'),
  'UTF-8 read as Latin-1': (secret) => Buffer.from(secret, 'utf8').toString('latin1'),
};

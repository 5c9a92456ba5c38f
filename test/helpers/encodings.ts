const hexOf = (text: string) => Buffer.from(text).toString('hex');
const base64Of = (text: string) => Buffer.from(text).toString('base64');

/** The spellings in which a secret is recognized. */
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
};

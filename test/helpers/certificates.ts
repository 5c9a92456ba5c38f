import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** A certificate and its key, both in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface CertificateOptions {
  /** Host names and IPv4 addresses it is good for. Default `127.0.0.1` and `localhost`. */
  hosts?: string[];
  from?: Date;
  to?: Date;
  issuer?: Authority;
}

export interface Authority extends Certificate {
  name: string;
  privateKey: KeyObject;
}

const dayMs = 86_400_000;
export const daysFromNow = (days: number) => new Date(Date.now() + days * dayMs);

/** A certificate authority: the root of a chain, or one below `issuer`. */
export function createAuthority(name: string, { issuer, from, to }: Omit<CertificateOptions, 'hosts'> = {}): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const isAuthority = sequence(
    oid('551d13'),
    der(0x01, Buffer.from([0xff])),
    octets(sequence(der(0x01, Buffer.from([0xff])))),
  );
  const cert = certificateOf({
    subject: name,
    issuer: issuer?.name ?? name,
    publicKey,
    signWith: issuer?.privateKey ?? privateKey,
    extension: isAuthority,
    from,
    to,
  });
  return { name, privateKey, cert, key: pemOf(privateKey) };
}

/** A server's certificate: signed by `issuer`, or by itself. X.509 (RFC 5280) by hand, so that a test needs no openssl. */
export function createCertificate({
  hosts = ['127.0.0.1', 'localhost'],
  issuer,
  from,
  to,
}: CertificateOptions = {}): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = hosts.map((host) =>
    isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  );
  const cert = certificateOf({
    subject: 'server of a test',
    issuer: issuer?.name ?? 'server of a test',
    publicKey,
    signWith: issuer?.privateKey ?? privateKey,
    extension: sequence(oid('551d11'), octets(sequence(...names))),
    from,
    to,
  });
  return { cert, key: pemOf(privateKey) };
}

interface Content {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  signWith: KeyObject;
  extension: Buffer;
  from?: Date;
  to?: Date;
}

let serial = 1;

function certificateOf(content: Content): string {
  const { subject, issuer, publicKey, signWith, extension, from = daysFromNow(-1), to = daysFromNow(30) } = content;
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const body = sequence(
    der(0xa0, integer(2)),
    integer(serial++),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(time(from), time(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, signWith));
  const base64 = sequence(body, ecdsaWithSha256, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
}

/** Tag, length, value. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const octets = (value: Buffer) => der(0x04, value);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const integer = (value: number) => der(0x02, Buffer.from([value]));
const commonName = '550403';
const nameOf = (text: string) => sequence(der(0x31, sequence(oid(commonName), der(0x0c, Buffer.from(text)))));
const time = (date: Date) => der(0x17, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(2, 14)}Z`));
const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

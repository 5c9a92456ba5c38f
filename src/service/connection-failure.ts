import { type Failure, type FailureKind, failure } from '../run/failure.ts';

/**
 * Why no connection was made, so that nothing was written; `$` is who couldn't be reached. If the
 * addresses of a host failed in different ways, the first row that fits one of them decides.
 */
// biome-ignore format: a table
const connectRows: [form: RegExp, kind: FailureKind, reason: string][] = [
  [/^ENOTFOUND/, 'unreachable', "$ can't be found"],
  [/^EAI_/, 'unreachable', 'no name server answered for $'],
  [/^ECONNREFUSED/, 'unreachable', '$ refused the connection'],
  [/^(ECONNRESET|EPIPE)/, 'unreachable', '$ closed the connection'],
  [/^\w*(TIMEDOUT|TIMEOUT)/, 'unreachable', "$ didn't accept a connection in time"],
  [/^E(HOST|NET)UNREACH/, 'unreachable', "$ can't be reached from this network"],
  [/^CERT_HAS_EXPIRED/, 'tls', 'the certificate for $ has expired'],
  [/^CERT_NOT_YET_VALID/, 'tls', "the certificate for $ isn't valid yet by this machine's clock"],
  [/^ERR_TLS_CERT_ALTNAME/, 'tls', '$ has a certificate for another host'],
  [/^(UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED)/, 'tls', "this machine doesn't trust the authority that signed the certificate for $"],
  [/wrong version number|packet length too long/, 'unreachable', "$ doesn't speak TLS"],
  [/^(EPROTO|ERR_SSL)/, 'unreachable', 'the TLS handshake with $ failed'],
  [/^\w*(CERT|CRL)|^INVALID_|^HOSTNAME_MISMATCH|^PATH_LENGTH/, 'tls', "the certificate for $ isn't valid"],
  [/^HPE_/, 'unreachable', "$ doesn't speak HTTP"],
];

/** The failure of a request of which nothing was written. */
export function connectFailure(error: unknown, peer = 'the service'): Failure {
  if (error instanceof Error && 'failure' in error) return error.failure as Failure;
  const causes = causesOf(error);
  for (const [form, kind, reason] of connectRows) {
    const cause = causes.find(({ code, message }) => form.test(`${code} ${message}`));
    if (!cause) continue;
    return failure(kind, { reason: `${reason.replace('$', peer)} (${detailOf(cause)})` });
  }
  const reason = `the connection to ${peer} failed (${causes.at(-1)?.message ?? error})`;
  return failure('unreachable', { reason });
}

/**
 * An error that carries the failure that it means. It has no code, because after some codes undici
 * connects again at once and for ever (nodejs/undici#3897).
 */
export const connectError = (why: Failure): Error =>
  Object.assign(new Error(why.reason), { failure: why });

/** The failure of a request that was written, in full or in part. `hasHead`: of its response. */
export function lostFailure(error: unknown, hasHead: boolean): Failure {
  const [cause = { code: '', message: '' }] = causesOf(error);
  if (cause.code === 'UND_ERR_HEADERS_OVERFLOW') {
    return failure('invalid_response', { reason: 'the response has headers of more than 256 KB' });
  }
  if (/^(HPE_|HTTPParserError)/.test(cause.code)) {
    return failure('invalid_response', { reason: "the response isn't HTTP" });
  }
  const alert = opensslReason(cause.message);
  const reason = `the connection broke ${hasHead ? 'in the middle of' : 'before'} the response`;
  return failure('connection_lost', { reason: alert ? `${reason} (${alert})` : reason });
}

interface Cause {
  code: string;
  message: string;
}

/** The error and those inside it. Node and undici put the telling one in any of these places. */
function causesOf(error: unknown): Cause[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error && error.code ? String(error.code) : error.name;
  const inner = error instanceof AggregateError ? error.errors : [];
  return [{ code, message: error.message }, ...[error.cause, ...inner].flatMap(causesOf)];
}

const detailOf = ({ code, message }: Cause) => opensslReason(message) ?? code;

/** `no shared cipher` in `0A0000C1:SSL routines:tls_early_post_process:no shared cipher:../deps/…`. */
const opensslReason = (message: string) => /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1];

import { isIP } from 'node:net';

/** The members of errors of sockets and TLS, besides their codes. */
type ConnectionError = NodeJS.ErrnoException & {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  /** The name for which the certificate is not valid. */
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
};

const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Describes what is wrong with a certificate; undefined for other errors. */
function certificateError({ code = '', message, host = '', cert }: ConnectionError): string | undefined {
  if (UNKNOWN_AUTHORITY.has(code)) return 'certificate signed by unknown authority';
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `certificate has expired or is not yet valid: ${message}`;
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return /^CERT_/.test(code) ? message : undefined;
  const names = (cert?.subjectaltname ?? '').split(', ').map(name => /^(DNS|IP Address):(.*)$/.exec(name));
  const valid = names.filter(name => name?.[1] === (isIP(host) ? 'IP Address' : 'DNS')).map(name => name![2]!);
  if (valid.length > 0) return `certificate is valid for ${valid.join(', ')}, not ${host}`;
  return isIP(host)
    ? `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
    : 'certificate relies on legacy Common Name field, use SANs instead';
}

/** Describes what is wrong with the protocol of a connection, from a message of OpenSSL. */
function protocolError(message: string): string {
  if (/wrong version number|packet length too long|http request/.test(message))
    return 'http: server gave HTTP response to HTTPS client';
  const alert = /\balert ([a-z ]+)/.exec(message)?.[1]?.trim();
  if (!alert) return message;
  return `remote error: tls: ${alert}${alert === 'protocol version' ? ' not supported' : ''}`;
}

/** An error of a connection in Go's words. `hasBegun`: whether the answer had begun. */
export function describeError(error: ConnectionError, hasBegun: boolean): string {
  const to = error.address ? `dial tcp ${error.address}:${error.port}: ` : '';
  switch (error.code) {
    case 'ECONNREFUSED':
      return `${to}connect: connection refused`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${error.hostname}: no such host`;
    case 'ECONNRESET':
      return hasBegun ? 'unexpected EOF' : 'EOF';
    case 'EPROTO':
      return protocolError(error.message);
  }
  const certificate = certificateError(error);
  return certificate === undefined ? error.message : `tls: failed to verify certificate: x509: ${certificate}`;
}

import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { isRecord, readJson, recordsAt, stringAt, type UnknownRecord } from '../../../core/api/index.js';
import { PROVIDER_DOCUMENT_BYTES, PROVIDER_KEYS, PROVIDER_MS } from '../../../core/limits.js';
import { certificatesIn } from '../../../core/model/text/certificateBundle.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import { hostRoots } from '../../../core/services/webhooks/hostRoots.js';
import type { Issuer, PublicJwk } from './types.js';

/**
 * The certificates that may have issued the certificate of a provider: only CA certificates (spec, "OpenID Connect
 * flags"). TLS alone would also accept the provider's own certificate. Throws an Error if there are none.
 */
function authorities({ certificateAuthority }: Issuer): readonly string[] {
  if (certificateAuthority === undefined) return hostRoots();
  const found = certificatesIn(certificateAuthority).filter(pem => new X509Certificate(pem).ca);
  if (found.length > 0) return found;
  throw new Error('the CA of the issuer has no certificate whose CA flag is set (basicConstraints CA:TRUE)');
}

/**
 * The JSON object at an address. Rejects with an Error for anything else: redirects, other codes, documents that are
 * too large, and answers that are not complete at `deadline` (of `monotonicTime`).
 */
function fetchObject(url: string, ca: readonly string[], deadline: number): Promise<UnknownRecord> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`Get ${JSON.stringify(url)}: ${why}`));
    if (!/^https:/i.test(url)) return fail('the address must begin with https://');
    const timer = setTimeout(() => {
      fail('no answer in time');
      sent.destroy();
    }, deadline - monotonicTime());
    // Each certificate is trusted by itself, as in upstream.
    const trust = { ca: [...ca], allowPartialTrustChain: true };
    const sent = request(url, { ...trust, agent: false, headers: { accept: 'application/json' } }, answer => {
      const { statusCode = 0 } = answer;
      const chunks: Buffer[] = [];
      let size = 0;
      if (statusCode !== 200) {
        fail(statusCode >= 300 && statusCode < 400 ? 'redirects are not followed' : `answered with code ${statusCode}`);
        return void sent.destroy();
      }
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= PROVIDER_DOCUMENT_BYTES) return void chunks.push(chunk);
        fail(`the document is larger than ${PROVIDER_DOCUMENT_BYTES} bytes`);
        sent.destroy();
      });
      answer.on('end', () => {
        const object = parseObject(Buffer.concat(chunks));
        if (object) resolve(object);
        else fail('the document is not a JSON object');
      });
      answer.on('error', error => fail(error.message));
    });
    sent.on('error', error => fail(error.message));
    sent.on('close', () => clearTimeout(timer));
    sent.end();
  });
}

function parseObject(bytes: Buffer): UnknownRecord | undefined {
  try {
    const value: unknown = readJson(bytes.toString('utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Members of a key that are kept: those that verify signatures. */
const MEMBERS = ['kty', 'kid', 'use', 'alg', 'n', 'e', 'crv', 'x', 'y'];

function publicPart(jwk: UnknownRecord): PublicJwk | undefined {
  const members = MEMBERS.flatMap(name => (typeof jwk[name] === 'string' ? [[name, jwk[name]] as const] : []));
  const kept = Object.fromEntries(members) as { [member: string]: string };
  const { kty } = kept;
  return kty === 'RSA' || kty === 'EC' ? { ...kept, kty } : undefined;
}

const WELL_KNOWN = '/.well-known/openid-configuration';

/**
 * Fetches the keys of a provider: its discovery document, which must name the issuer (OpenID Connect Discovery 1.0, 4),
 * and the keys at the address that it names. Rejects with an Error that says why there are none.
 */
export async function fetchKeys(issuer: Issuer): Promise<readonly PublicJwk[]> {
  const deadline = monotonicTime() + PROVIDER_MS;
  const ca = authorities(issuer);
  const { url, discoveryUrl } = issuer;
  const document = await fetchObject(discoveryUrl ?? url.replace(/\/$/, '') + WELL_KNOWN, ca, deadline);
  const named = stringAt(document, 'issuer');
  if (named !== url)
    throw new Error(`the discovery document is of the issuer ${JSON.stringify(named)}, not ${JSON.stringify(url)}`);
  const jwksUri = stringAt(document, 'jwks_uri');
  if (!jwksUri) throw new Error('the discovery document has no jwks_uri');
  const keys = recordsAt(await fetchObject(jwksUri, ca, deadline), 'keys');
  if (keys.length > PROVIDER_KEYS) throw new Error(`there are ${keys.length} keys; at most ${PROVIDER_KEYS} are read`);
  return keys.flatMap(jwk => publicPart(jwk) ?? []);
}

import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { at, spec, strings, text } from '../record.js';
import type { KindTable } from '../strategies.js';
import { segmentName } from '../naming-rules.js';

const PEM = /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----[A-Za-z0-9+/=\s]+-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/;

/** A request holds a PKCS #10 request in PEM (RFC 7468, section 7), who is to sign it, and what for. */
function requestViolations(object: ApiObject): Violation[] {
  const wanted = spec(object);
  const found: Violation[] = [];
  const pem = Buffer.from(text(wanted, 'request'), 'base64').toString('latin1');
  if (!PEM.test(pem)) found.push(invalid('spec.request', text(wanted, 'request'), 'PEM block type must be CERTIFICATE REQUEST'));
  if (strings(wanted, 'usages').length === 0) found.push(required('spec.usages'));
  if (text(wanted, 'signerName') === '') found.push(required('spec.signerName'));
  return found;
}

/** Requests for certificates: who asks is what the server saw, never what the client wrote. */
const signingRequest = (): Partial<Strategy> => ({
  checkName: segmentName,
  hasStatus: true,
  validateCreate: requestViolations,
  prepareCreate: (object, rules) => {
    spec(object).username = rules.userName;
  },
  prepareUpdate: (object, old) => {
    object.spec = structuredClone(old.spec);
  },
  selectableFields: new Map([['spec.signerName', object => text(at(object, 'spec'), 'signerName')]]),
});

/** Kinds of the certificates group. */
export const certificateKinds: KindTable = {
  'certificates.orchestrator.io/certificatesigningrequests': signingRequest,
};

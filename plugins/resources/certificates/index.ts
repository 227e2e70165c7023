import type { Strategy } from '../../../core/api/strategy.js';
import { at, spec, text } from '../record.js';
import type { KindTable } from '../strategies.js';
import { segmentName } from '../naming-rules.js';

/** Requests for certificates: who asks is what the server saw, never what the client wrote. */
const signingRequest = (): Partial<Strategy> => ({
  checkName: segmentName,
  hasStatus: true,
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

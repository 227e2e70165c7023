import { recordAt, setDefault, type UnknownRecord } from '../../../core/model/record.js';

/** A reference to a service inside a client configuration. */
export function setServiceReferenceDefaults(config: UnknownRecord | undefined): void {
  const service = recordAt(config, 'service');
  if (service) setDefault(service, 'port', 443);
}

import { recordAt, setDefault, type UnknownRecord } from '../../../core/model/record.js';

/** The default port of the service in a client configuration is 443. */
export function setServiceReferenceDefaults(config: UnknownRecord | undefined): void {
  const service = recordAt(config, 'service');
  if (service) setDefault(service, 'port', 443);
}

import type { APIService } from '../../../kinds/apiregistration/v1.js';
import type { Frozen } from '../../model/object.js';
import type { ServicePort } from './serviceAddress.js';

/** Storage name of APIServices. */
export const API_SERVICES = 'apiregistration.orchestrator.io/apiservices';

/** The port of a service if none is named. */
const HTTPS = 443;

/** The service that answers requests for the version of an APIService; undefined if this server does. */
export const serviceOf = ({ spec: { service } }: Frozen<APIService>): ServicePort | undefined =>
  service && { namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? HTTPS };

/** Whether the condition `Available` of an APIService is true. */
export const isAvailable = ({ status }: Frozen<APIService>): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'True') === true;

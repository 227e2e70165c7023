import type { Strategy } from '../../../core/api/strategy.js';
import { absent, at, fill, into, isRec, list, type Rec, spec, text } from '../record.js';
import type { KindTable } from '../strategies.js';

/** A reference to a service inside a client configuration. */
export function serviceReferenceDefaults(config: Rec | undefined): void {
  const service = at(config, 'service');
  if (service) fill(service, 'port', 443);
}

const apiService = (): Partial<Strategy> => ({
  hasStatus: true,
  unconditionalUpdate: false,
  checkName: () => [],
  defaults: object => serviceReferenceDefaults(at(object, 'spec')),
  selectableFields: new Map(),
});

const definition = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  unconditionalUpdate: false,
  defaults: object => {
    const s = spec(object);
    const names = into(s, 'names');
    if (text(names, 'singular') === '') names.singular = text(names, 'kind').toLowerCase();
    if (text(names, 'listKind') === '' && text(names, 'kind') !== '') names.listKind = `${text(names, 'kind')}List`;
    const conversion = into(s, 'conversion');
    fill(conversion, 'strategy', 'None');
    serviceReferenceDefaults(at(conversion, 'webhook', 'clientConfig'));
    if (absent(s.preserveUnknownFields) || s.preserveUnknownFields === false) delete s.preserveUnknownFields;
  },
  prepareCreate: object => {
    const stored = list(at(object, 'spec'), 'versions').filter(version => version.storage === true);
    object.status = { storedVersions: stored.map(version => text(version, 'name')) };
  },
  prepareUpdate: (object, old) => {
    const status = isRec(object.status) ? object.status : structuredClone(at(old, 'status') ?? {});
    const known = Array.isArray(status.storedVersions) ? status.storedVersions : [];
    for (const version of list(at(object, 'spec'), 'versions')) {
      if (version.storage === true && !known.includes(version.name)) known.push(version.name);
    }
    status.storedVersions = known;
    object.status = status;
  },
});

/** Kinds that extend the server. */
export const extensionKinds: KindTable = {
  'apiextensions.orchestrator.io/customresourcedefinitions': definition,
  'apiregistration.orchestrator.io/apiservices': apiService,
};

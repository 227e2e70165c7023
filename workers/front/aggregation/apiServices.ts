import type { APIService } from '../../../kinds/apiregistration/v1.js';
import { decodeStored } from '../../../core/plugin/informers/stored.js';
import { decodePath } from '../../../core/request/route.js';
import { isDeepEqual } from '../../../core/model/record.js';
import { isAvailable, serviceOf } from '../../../core/services/aggregation/registration.js';
import type { ServicePort } from '../../../core/services/aggregation/serviceAddress.js';
import type { Priorities } from '../../../core/services/discovery/otherServers.js';
import type { Collection } from '../state/collection.js';

/** A group and version that another server answers, as its APIService says. */
export interface AggregatedVersion {
  /** Name of the APIService. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly priorities: Priorities;
  readonly service: ServicePort;
  /** The certificates that the server is verified with, in PEM; undefined: those of the system. */
  readonly ca: string | undefined;
  readonly skipsVerification: boolean;
  /** Whether its condition `Available` is true. */
  readonly isAvailable: boolean;
}

/**
 * `/apis/GROUP/VERSION` at the beginning of a path, with GROUP and VERSION, or the path of its description. Other
 * servers answer both.
 */
const PREFIX = /^(?:\/openapi\/v3)?\/apis\/([^/]+)\/([^/]+)(?:\/|$)/;

/** Bytes that only the APIService of another server contains. */
const SERVICE = Buffer.from('"service":{');

/**
 * The groups and versions that other servers answer, by their APIServices. They are read again at the first request
 * after one has changed.
 */
export class ApiServices {
  #revision = -1;
  #versions: ReadonlyMap<string, AggregatedVersion> = new Map();
  #priorities: ReadonlyMap<string, Priorities> | undefined;

  /** `collection` returns the collection of APIServices; undefined until it exists. */
  constructor(readonly collection: () => Collection | undefined) {}

  /** The version that a path belongs to, if another server answers it; undefined if this server does. */
  of(path: string): AggregatedVersion | undefined {
    const versions = this.versions();
    if (versions.size === 0) return undefined;
    // The path is decoded, as authorizers see it. A path that cannot be decoded belongs to no version.
    const [, group, version] = PREFIX.exec(decodePath(path) ?? '') ?? [];
    return group === undefined ? undefined : versions.get(`${version}.${group}`);
  }

  /** The versions, by the names of their APIServices: the same map until one has changed. */
  versions(): ReadonlyMap<string, AggregatedVersion> {
    const collection = this.collection();
    if (collection && collection.revision !== this.#revision) {
      this.#revision = collection.revision;
      this.#versions = versionsIn(collection, this.#versions);
      this.#priorities = undefined;
    }
    return this.#versions;
  }

  /** The priorities of all versions, including those of this server, by the names of their APIServices. */
  priorities(): ReadonlyMap<string, Priorities> {
    this.versions();
    const collection = this.collection();
    return (this.#priorities ??= collection ? prioritiesIn(collection) : new Map());
  }
}

/** The priorities of all APIServices in a collection, by name. */
function prioritiesIn({ entries }: Collection): ReadonlyMap<string, Priorities> {
  const services = Array.from(entries.values(), ({ value }) => decodeStored(value) as APIService);
  return new Map(services.map(({ metadata, spec }) => [metadata.name!, prioritiesOf(spec)]));
}

const prioritiesOf = (spec: APIService['spec']): Priorities => ({
  group: spec.groupPriorityMinimum,
  version: spec.versionPriority,
});

/**
 * The versions in a collection that other servers answer, by the names of their APIServices. Versions that have not
 * changed are the same objects as before.
 */
function versionsIn(
  { entries }: Collection,
  before: ReadonlyMap<string, AggregatedVersion>,
): ReadonlyMap<string, AggregatedVersion> {
  const versions = new Map<string, AggregatedVersion>();
  for (const { value } of entries.values()) {
    // Most APIServices are of this server, and need not be parsed.
    if (!Buffer.from(value.buffer, value.byteOffset, value.length).includes(SERVICE)) continue;
    const found = versionOf(decodeStored(value) as APIService);
    if (!found) continue;
    const known = before.get(found.name);
    versions.set(found.name, isDeepEqual(known, found) ? known! : found);
  }
  return versions;
}

function versionOf(object: APIService): AggregatedVersion | undefined {
  const service = serviceOf(object);
  if (!service) return undefined;
  const { metadata, spec } = object;
  const { caBundle } = spec;
  return {
    name: metadata.name!,
    group: spec.group ?? '',
    version: spec.version ?? '',
    priorities: prioritiesOf(spec),
    service,
    ca: caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined,
    skipsVerification: spec.insecureSkipTLSVerify === true,
    isAvailable: isAvailable(object),
  };
}

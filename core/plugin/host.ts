import type { Host, Informer, LabeledInformer, InternalRequest, ResourceEvent, Thread } from '../api/host.js';
import type { CheckedRef, ObjectOf, ResourceRef, Resources } from '../api/client/reference.js';
import type { Awaitable, Combined } from '../api/point.js';
import type { ApiObject } from '../model/object.js';
import { isGate } from '../features/gates.js';
import { RELEASE_MS } from '../limits.js';
import { namingOf } from '../naming.js';
import { systemTime } from '../runtime/clock.js';
import type { Registry } from '../schema/resource.js';
import type { PluginSpec, ThreadData } from '../threads/data.js';
import { type CallTarget, guardListener } from './calls/calls.js';
import { withinDeadline } from './calls/deadline.js';
import { kindsOf } from './kinds.js';
import type { Closers } from './closers.js';
import { type FollowedResources, storageNameOf } from './resourceNames.js';
import type { RunningCalls } from './calls/runningCalls.js';

/** The parts that are kept when the other parts of a thread are replaced by those of other plugins. */
export interface KeptParts {
  /** Names of their points. */
  readonly points: readonly string[];
  /**
   * The list to which their release functions are added; absent if the parts already exist and are not created again.
   */
  readonly closers?: Closers;
}

/** The services of a thread for plugins, in addition to log, clock and naming. */
export interface HostServices {
  /** The release functions of the thread, to which those of the plugins are added. */
  readonly closers: Closers;
  readonly kept?: KeptParts;
  /** Selects the plugins of the thread that are loaded; absent: all. */
  readonly selects?: (spec: PluginSpec) => boolean;
  readonly informer?: (storageName: string) => Informer;
  /** Collects the resources that plugins of the configuration follow. */
  readonly followed?: FollowedResources;
  readonly dynamicInformer?: (storageName: string) => Awaitable<LabeledInformer>;
  /** The current registry; called only after all plugins have been created. */
  readonly registry?: () => Registry;
  readonly onChange?: (storageName: string, listener: (event: ResourceEvent) => void) => void;
  readonly observe?: Host<'pool'>['observe'];
  readonly service?: Host<'pool'>['service'];
  readonly request?: (name: string, request: InternalRequest) => Promise<ApiObject>;
  readonly watch?: (listener: (event: ResourceEvent) => void) => void;
  readonly findByUid?: Host<'control'>['findByUid'];
  readonly resources?: Resources;
  /** Records the calls that a watched thread is executing. */
  readonly running?: RunningCalls;
}

/** The plugin that a host is made for, at one extension point. */
export type HostUser = Omit<CallTarget, 'timeout'> & {
  /** Whether the plugin came with the server. */
  readonly isBuiltIn: boolean;
};

/** The contributions to extension points in a thread. */
export interface PluginSet {
  /** Whether all contributions have been created. */
  readonly isComplete: boolean;
  at<Out>(point: Combined<Out>): Out;
}

const notAvailable = (what: string, thread: Thread) => (): never => {
  throw new Error(`${what} is not available in the ${thread} thread`);
};

/**
 * The informers for the plugins of a thread. The pool receives only objects of resources whose informers were requested
 * while the plugins were created. A later informer would be empty, so requesting it throws.
 */
function informersOf(
  thread: Thread,
  plugins: PluginSet,
  { informer, onChange, followed }: HostServices,
): (user: HostUser) => Pick<Host<'pool'>, 'informer' | 'onChange'> {
  if (!informer || !onChange)
    return () => ({ informer: notAvailable('informer', thread), onChange: notAvailable('onChange', thread) });
  const known = new Set<string>();
  const follow = ({ plugin, isBuiltIn }: HostUser, call: string, given: ResourceRef): string => {
    const storageName = storageNameOf(given);
    if (plugins.isComplete && thread === 'pool' && !known.has(storageName))
      throw new Error(`${call}('${storageName}') must be called when the plugin is made, not later`);
    known.add(storageName);
    if (!isBuiltIn && !plugins.isComplete) followed?.add(plugin, storageName);
    return storageName;
  };
  return user => ({
    // Objects of a resource have its type, which is that of the version in which they are stored.
    informer: <const R extends ResourceRef>(given: CheckedRef<R>) =>
      informer(follow(user, 'informer', given)) as Informer<ObjectOf<R>>,
    onChange: (given, listener) => onChange(follow(user, 'onChange', given), guardListener(user, listener)),
  });
}

function isFeatureEnabled(feature: string, enabled: readonly string[]): boolean {
  if (isGate(feature)) return enabled.includes(feature);
  throw new Error(`isEnabled(${JSON.stringify(feature)}): there is no such feature gate`);
}

/** Throws TypeError for values that could not be posted to the thread that has the metrics. */
const checkedObserve =
  (observe: Host<'pool'>['observe']): Host<'pool'>['observe'] =>
  (metric, labels, value) => {
    const isText = (one: unknown): boolean => typeof one === 'string';
    if (!isText(metric) || !Object.values(labels ?? {}).every(isText) || !Number.isFinite(value))
      throw new TypeError('observe takes the name of a metric, an object of labels that are strings, and a number');
    observe(metric, { ...labels }, value);
  };

/** A host with the members of all threads; those that a thread does not offer throw. */
type FullHost = Omit<Host<'control'>, 'thread'> &
  Omit<Host<'pool'>, 'thread'> & {
    readonly thread: Thread;
  };

/** Creates the hosts of the plugins of a thread. */
export function hostOf(
  data: ThreadData,
  thread: Thread,
  services: HostServices,
  plugins: PluginSet,
): (user: HostUser) => Host {
  const { closers, kept, watch, dynamicInformer } = services;
  const closersOf = (point: string): Closers => (kept?.closers && kept.points.includes(point) ? kept.closers : closers);
  const informers = informersOf(thread, plugins, services);
  const kinds = kindsOf(services.registry ?? notAvailable('kinds', thread));
  const at: Host['at'] = point => {
    if (plugins.isComplete) return plugins.at(point);
    throw new Error(`at(${point.name}) is available once every plugin of the thread has been made, not before`);
  };
  return (user): FullHost => ({
    thread,
    log: user.log,
    naming: namingOf(data.naming),
    now: systemTime,
    isEnabled: feature => isFeatureEnabled(feature, data.features),
    onClose: release =>
      closersOf(user.point).add(`plugin ${user.plugin}`, () =>
        withinDeadline(release(), RELEASE_MS, { keepAlive: true }),
      ),
    ...informers(user),
    dynamicInformer: dynamicInformer
      ? given => dynamicInformer(storageNameOf(given))
      : notAvailable('dynamicInformer', thread),
    kinds,
    observe: services.observe ? checkedObserve(services.observe) : notAvailable('observe', thread),
    service: services.service ?? notAvailable('service', thread),
    findByUid: services.findByUid ?? notAvailable('findByUid', thread),
    request: services.request ?? notAvailable('request', thread),
    get resources(): Resources {
      return services.resources ?? notAvailable('resources', thread)();
    },
    watch: watch ? listener => watch(guardListener(user, listener)) : notAvailable('watch', thread),
    at,
  });
}

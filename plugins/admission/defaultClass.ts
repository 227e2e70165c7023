import type { Ingress } from '../../kinds/networking/v1.js';
import type { PersistentVolumeClaim } from '../../kinds/v1.js';
import type { Host, Informer } from '../../core/api/host.js';
import type { ApiObject } from '../../core/model/object.js';
import type { Plugin } from '../../core/api/point.js';
import { mutatorPlugin } from './podDraft.js';

/** The name of the class that is marked as the default. If several are, the newest one, then the first one by name. */
function defaultOf(classes: Informer, marks: readonly string[]): string | undefined {
  const marked = classes.list().filter(({ metadata }) => marks.some(mark => metadata.annotations?.[mark] === 'true'));
  const age = ({ metadata }: ApiObject): number => Date.parse(metadata.creationTimestamp ?? '');
  const nameOf = ({ metadata }: ApiObject): string => metadata.name ?? '';
  const [first] = marked.sort((a, b) => age(b) - age(a) || (nameOf(a) < nameOf(b) ? -1 : 1));
  return first && nameOf(first);
}

/** A class that new objects of a kind get if they name none. */
interface Defaulting {
  readonly group: string;
  readonly resource: string;
  /** Storage name of the classes. */
  readonly classes: string;
  /** Annotations of the default class. */
  readonly marks: readonly string[];
  /** The annotation in which objects named their class before there was a field. */
  readonly oldForm: string;
  /** The class that a new object names. */
  readonly read: (object: ApiObject) => string | undefined;
  readonly write: (object: ApiObject, name: string) => void;
}

const defaultClass = (name: string, { group, resource, classes, marks, oldForm, read, write }: Defaulting): Plugin =>
  mutatorPlugin(name, (host: Host<'pool'>) => {
    const { naming } = host;
    const existing = host.informer(classes);
    const [annotation, isDefault] = [naming.label(oldForm), marks.map(mark => naming.label(mark))];
    return {
      on: { groups: [group], resources: [resource], operations: ['CREATE'] },
      mutate(_change, draft) {
        if (read(draft) !== undefined || Object.hasOwn(draft.metadata.annotations ?? {}, annotation)) return;
        const found = defaultOf(existing, isDefault);
        if (found !== undefined) write(draft, found);
      },
    };
  });

/** Gives new claims the default storage class, unless they name one. */
export const storageClass = defaultClass('default-storage-class', {
  group: '',
  resource: 'persistentvolumeclaims',
  classes: 'storage.orchestrator.io/storageclasses',
  marks: ['storageclass.orchestrator.io/is-default-class', 'storageclass.beta.orchestrator.io/is-default-class'],
  oldForm: 'volume.beta.orchestrator.io/storage-class',
  read: claim => (claim as PersistentVolumeClaim).spec.storageClassName,
  write: (claim, name) => {
    (claim as PersistentVolumeClaim).spec.storageClassName = name;
  },
});

/** Gives new ingresses the default ingress class, unless they name one. */
export const ingressClass = defaultClass('default-ingress-class', {
  group: 'networking.orchestrator.io',
  resource: 'ingresses',
  classes: 'networking.orchestrator.io/ingressclasses',
  marks: ['ingressclass.orchestrator.io/is-default-class'],
  oldForm: 'orchestrator.io/ingress.class',
  read: ingress => (ingress as Ingress).spec.ingressClassName,
  write: (ingress, name) => {
    (ingress as Ingress).spec.ingressClassName = name;
  },
});

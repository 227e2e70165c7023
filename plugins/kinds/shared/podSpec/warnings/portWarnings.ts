import type { PodSpec } from '../../../../../kinds/v1.js';

/** The lists of containers that receive connections, in the order of warnings. */
const LISTS = ['initContainers', 'containers'] as const;

interface Port {
  readonly field: string;
  readonly name: string;
  readonly number: number;
  readonly protocol: string;
  readonly hostIp: string;
  readonly hostPort: number;
}

const portsOf = (pod: PodSpec, field: string): Port[] =>
  LISTS.flatMap(list =>
    (pod[list] ?? []).flatMap((container, i) =>
      (container.ports ?? []).map((port, j) => ({
        field: `${field}.${list}[${i}].ports[${j}]`,
        name: port.name ?? '',
        number: port.containerPort,
        protocol: port.protocol ?? '',
        hostIp: port.hostIP ?? '',
        hostPort: port.hostPort ?? 0,
      })),
    ),
  );

/** Whether a port is used on all addresses of the host, or is not used there. */
const isEverywhere = (port: Port): boolean => ['', '0.0.0.0', '::'].includes(port.hostIp);

/** The relation of a port to an earlier one with the same number and protocol; undefined if both can be used. */
function relationOf(port: Port, other: Port): string | undefined {
  if (port.hostIp === other.hostIp && port.hostPort === other.hostPort) return 'duplicate';
  if (port.hostPort === 0 || other.hostPort === 0) return 'overlapping';
  return port.hostPort === other.hostPort && (isEverywhere(port) || isEverywhere(other)) ? 'overlapping' : undefined;
}

/** Largest number of warnings. Clients see fewer: the warnings of an answer are limited in size. */
const MOST_WARNINGS = 200;

/** Earlier ports, by the value that makes a port related to them. */
class KnownPorts {
  readonly #ports: Port[] = [];
  readonly #keys = new Set<string>();

  add(port: Port): void {
    const { hostIp, hostPort } = port;
    const group = `${port.number}/${port.protocol}`;
    this.#ports.push(port);
    this.#keys.add(group).add(`${group}/${hostPort}`).add(`${group}/${hostPort}/${hostIp}`);
    if (isEverywhere(port)) this.#keys.add(`${group}/${hostPort}/*`);
  }

  /** The ports with the same number and protocol; none if no port of them is related to this one. */
  relatedTo(port: Port): readonly Port[] {
    return this.#isRelated(port)
      ? this.#ports.filter(other => other.number === port.number && other.protocol === port.protocol)
      : [];
  }

  #isRelated(port: Port): boolean {
    const group = `${port.number}/${port.protocol}`;
    const onHost = `${group}/${port.hostPort}`;
    if (port.hostPort === 0) return this.#keys.has(group);
    return (
      this.#keys.has(`${group}/0`) ||
      this.#keys.has(isEverywhere(port) ? onHost : `${onHost}/*`) ||
      this.#keys.has(`${onHost}/${port.hostIp}`)
    );
  }
}

/** Warnings about ports that other containers of the pod have. */
export function portWarnings(pod: PodSpec, field: string): string[] {
  const known = new KnownPorts();
  const found: string[] = [];
  for (const port of portsOf(pod, field)) {
    if (found.length >= MOST_WARNINGS) break;
    if (port.hostIp !== '' && port.hostPort === 0)
      found.push(
        `${port.field}: hostIP set without hostPort: {Name:${port.name} HostPort:0 ContainerPort:${port.number} Protocol:${port.protocol} HostIP:${port.hostIp}}`,
      );
    for (const other of known.relatedTo(port)) {
      const relation = relationOf(port, other);
      if (relation) found.push(`${port.field}: ${relation} port definition with ${other.field}`);
    }
    known.add(port);
  }
  return found;
}

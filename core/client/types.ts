/**
 * The credentials of a client: a bearer token, a certificate with its key in PEM, or both.
 *
 * @example
 * const { token } = await loadCredentials({ kubeconfig: 'dev.kubeconfig' }).get();
 */
export interface ClientCredentials {
  readonly token?: string;
  /** The certificate, which may be followed by those between it and its CA. Present if `key` is. */
  readonly certificate?: string;
  readonly key?: string;
  /** When they end, in milliseconds since the epoch; absent: they are used until the server refuses them. */
  readonly expiresAt?: number;
}

/** Whether a plugin may ask the user on the terminal: never, if there is one, or only with one. */
export type InteractiveMode = 'Never' | 'IfAvailable' | 'Always';

/** A program that prints an ExecCredential, as the user of a kubeconfig names it in `exec`. */
export interface ExecPlugin {
  /** With the group in either naming: the plugin must answer with the same one. */
  readonly apiVersion: string;
  /** A name that is looked up in PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables beside those of this process. */
  readonly env: ReadonlyMap<string, string>;
  readonly interactiveMode: InteractiveMode;
  /** Shown if there is no such program. */
  readonly installHint: string;
  /** The cluster that the plugin gets as `spec.cluster`; absent unless the kubeconfig has `provideClusterInfo`. */
  readonly cluster?: object;
}

/** The server of a kubeconfig. */
export interface ServerAddress {
  readonly url: string;
  /** CA certificates in PEM; absent: those of Node.js. */
  readonly ca?: string;
  /** The name that its certificate must have, where it is not the host of the URL. */
  readonly serverName?: string;
  readonly skipsVerification: boolean;
  /** The proxy through which it is reached. */
  readonly proxy?: URL;
}

/** How a client reaches its server, and where its credentials come from. */
export interface ClientConfig {
  readonly server: ServerAddress;
  readonly user:
    | { readonly exec: ExecPlugin }
    | { readonly read: () => ClientCredentials; readonly mayChange: boolean };
}

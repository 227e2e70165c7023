/**
 * The credentials of a client: a bearer token, a certificate with its key in PEM, or both.
 *
 * @example
 * const { token } = await loadCredentials({ kubeconfig: 'dev.kubeconfig' }).get();
 */
export interface ClientCredentials {
  readonly token?: string;
  /** The certificate, which may be followed by intermediate certificates. Present if `key` is. */
  readonly certificate?: string;
  readonly key?: string;
  /**
   * The time at which they expire, in milliseconds since the epoch; absent: they are used until the server refuses
   * them.
   */
  readonly expiresAt?: number;
}

/**
 * Whether a plugin may ask the user on the terminal: never; if there is a terminal; or always, so that a terminal is
 * required.
 */
export type InteractiveMode = 'Never' | 'IfAvailable' | 'Always';

/** A program that prints an ExecCredential, as the user of a kubeconfig names it in `exec`. */
export interface ExecPlugin {
  /** The version of ExecCredential, with the group in either naming. The plugin must answer with the same one. */
  readonly apiVersion: string;
  /** A name that is looked up in PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables in addition to those of this process. */
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
  /** The name that its certificate must have, if it is not the host of the URL. */
  readonly serverName?: string;
  readonly skipsVerification: boolean;
  /** The proxy through which it is reached. */
  readonly proxy?: URL;
}

/** The server of a client, and the source of its credentials. */
export interface ClientConfig {
  readonly server: ServerAddress;
  readonly user:
    | { readonly exec: ExecPlugin }
    | { readonly read: () => ClientCredentials; readonly mayChange: boolean };
}

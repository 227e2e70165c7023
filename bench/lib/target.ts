/** A process under load: the server, or a baseline. */
export interface Target {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Sent as a bearer token, if there is one. */
  readonly token?: string;
  close(): Promise<void>;
}
